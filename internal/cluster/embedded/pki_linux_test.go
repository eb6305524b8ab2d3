package embedded

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/netip"
	"testing"
)

// A handshake with full verification, in both directions, is the proof.
func TestCertificatesVerify(t *testing.T) {
	dir := t.TempDir()
	ca, err := loadAuthority(dir, "cluster")
	if err != nil {
		t.Fatal(err)
	}
	again, err := loadAuthority(dir, "cluster")
	if err != nil {
		t.Fatal(err)
	}
	if !ca.cert.Equal(again.cert) {
		t.Error("the authority was made anew")
	}
	other, err := loadAuthority(dir, "etcd")
	if err != nil {
		t.Fatal(err)
	}
	server := pair(t, again, identity{user: "server", addresses: []netip.Addr{netip.MustParseAddr("127.0.0.1")}})
	for name, c := range map[string]struct {
		client tls.Certificate
		ok     bool
	}{
		"own client":     {pair(t, ca, identity{user: "u", groups: []string{"g"}}), true},
		"other's client": {pair(t, other, identity{user: "u"}), false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := handshake(t, ca, server, c.client); (err == nil) != c.ok {
				t.Errorf("handshake: %v, want success: %v", err, c.ok)
			}
		})
	}
}

func pair(t *testing.T, ca *authority, id identity) tls.Certificate {
	t.Helper()
	cert, key, err := ca.issue(id)
	if err != nil {
		t.Fatal(err)
	}
	p, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func handshake(t *testing.T, ca *authority, server, client tls.Certificate) error {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	done := make(chan error, 1)
	go func() {
		done <- tls.Server(a, &tls.Config{Certificates: []tls.Certificate{server}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}).Handshake()
	}()
	c := tls.Client(b, &tls.Config{Certificates: []tls.Certificate{client}, RootCAs: pool, ServerName: "127.0.0.1"})
	go func() { _, _ = c.Read(make([]byte, 1)) }()
	return <-done
}
