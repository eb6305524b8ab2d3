# What an embedded cluster is made of. Everything is built once per machine into
# $(PODPROOF_CACHE) and again only when what it is built from changes.
#
#   packages    Debian packages that are missing (as root, on Debian)
#   components  bin/: Kubernetes, etcd, cluster DNS, kubectl; containerd; pause
#   images      images/: the images that labs use, as archives

PODPROOF_CACHE ?= $(HOME)/.cache/podproof

# program:package pairs of what an embedded cluster calls on the machine.
CLUSTER_PROGRAMS := runc:runc iptables:iptables ip:iproute2 mount:mount /usr/lib/cni/ptp:containernetworking-plugins

.PHONY: packages components images

packages: ## install the Debian packages that an embedded cluster needs
	@tools/packages.sh $(CLUSTER_PROGRAMS)

components: ## build what an embedded cluster runs (about 15 minutes the first time)
	@PODPROOF_CACHE='$(PODPROOF_CACHE)' tools/components.sh pause containerd containerd-shim-runc-v2 ctr kubernetes

images: components ## build the images that labs use from Debian packages
	@PODPROOF_CACHE='$(PODPROOF_CACHE)' tools/components.sh images
