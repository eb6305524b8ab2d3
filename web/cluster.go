package web

import (
	"net/http"

	"github.com/podproof/podproof/web/view"
)

func (h *Handler) clusterPage(w http.ResponseWriter, r *http.Request) {
	p := h.page(r)
	// A failure is said once; while it lasts there is nothing new to show.
	if p.Cluster.Failed && r.URL.Query().Get("phase") == p.Cluster.Phase() {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	p.Title = p.T("page.cluster")
	h.render(w, r, http.StatusOK, view.ClusterPage(p))
}

// clusterBand is asked for by a page that waits for the cluster; once it is
// there the whole page is worth showing anew.
func (h *Handler) clusterBand(w http.ResponseWriter, r *http.Request) {
	p := h.page(r)
	if p.Cluster.Ready {
		w.Header().Set("HX-Refresh", "true")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if r.URL.Query().Get("phase") == p.Cluster.Phase() {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	h.render(w, r, http.StatusOK, view.ClusterBand(p))
}
