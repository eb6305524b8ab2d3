package embedded

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"time"
)

// authority is a certificate authority. It is kept, so that kubeconfigs stay
// valid over restarts; the certificates it signs are made anew at every start,
// so that none ever expires and a changed address is never a problem.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

const (
	authorityLife = 20 * 365 * 24 * time.Hour
	leafLife      = 2 * 365 * 24 * time.Hour
	clockSkew     = time.Hour
)

// loadAuthority reads dir/name.crt and .key, or makes them.
func loadAuthority(dir, name string) (*authority, error) {
	certPath, keyPath := filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")
	certPEM, err := os.ReadFile(certPath)
	if errors.Is(err, fs.ErrNotExist) {
		return makeAuthority(certPath, keyPath, name)
	}
	if err != nil {
		return nil, fmt.Errorf("read the authority %s: %w", name, err)
	}
	keyPEM, err := os.ReadFile(keyPath)
	if err != nil {
		return nil, fmt.Errorf("read the authority %s: %w", name, err)
	}
	cb, _ := pem.Decode(certPEM)
	kb, _ := pem.Decode(keyPEM)
	if cb == nil || kb == nil {
		return nil, fmt.Errorf("read the authority %s: no PEM block in %s or .key", name, certPath)
	}
	cert, err1 := x509.ParseCertificate(cb.Bytes)
	key, err2 := x509.ParseECPrivateKey(kb.Bytes)
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("read the authority %s: %w", name, err)
	}
	return &authority{cert: cert, key: key, pem: certPEM}, nil
}

func makeAuthority(certPath, keyPath, name string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the authority %s: %w", name, err)
	}
	tmpl, err := certificate(pkix.Name{CommonName: "podproof-" + name}, authorityLife)
	if err != nil {
		return nil, err
	}
	tmpl.IsCA, tmpl.BasicConstraintsValid = true, true
	tmpl.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make the authority %s: %w", name, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("make the authority %s: %w", name, err)
	}
	a := &authority{cert: cert, key: key, pem: encodeCert(der)}
	keyPEM, err := encodeKey(key)
	if err != nil {
		return nil, err
	}
	// The certificate is what says that the authority exists: it comes last.
	if err := writeFile(keyPath, keyPEM, 0o600); err != nil {
		return nil, fmt.Errorf("keep the authority %s: %w", name, err)
	}
	if err := writeFile(certPath, a.pem, 0o644); err != nil {
		return nil, fmt.Errorf("keep the authority %s: %w", name, err)
	}
	return a, nil
}

// identity says who a certificate speaks for. With hosts or addresses it serves
// as well as it calls.
type identity struct {
	user      string
	groups    []string
	hosts     []string
	addresses []netip.Addr
}

// issue signs a fresh certificate and returns it with its key, both in PEM.
func (a *authority) issue(id identity) (cert, key []byte, err error) {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("issue a certificate for %s: %w", id.user, err)
	}
	tmpl, err := certificate(pkix.Name{CommonName: id.user, Organization: id.groups}, leafLife)
	if err != nil {
		return nil, nil, err
	}
	tmpl.KeyUsage = x509.KeyUsageDigitalSignature
	tmpl.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if len(id.hosts)+len(id.addresses) > 0 {
		tmpl.ExtKeyUsage = append(tmpl.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
		tmpl.DNSNames = id.hosts
		for _, ip := range id.addresses {
			tmpl.IPAddresses = append(tmpl.IPAddresses, net.IP(ip.AsSlice()))
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, a.cert, k.Public(), a.key)
	if err != nil {
		return nil, nil, fmt.Errorf("issue a certificate for %s: %w", id.user, err)
	}
	key, err = encodeKey(k)
	return encodeCert(der), key, err
}

func certificate(name pkix.Name, life time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("number a certificate: %w", err)
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial, Subject: name,
		NotBefore: now.Add(-clockSkew), NotAfter: now.Add(life),
	}, nil
}

// loadSigningKey reads or makes the key that signs ServiceAccount tokens.
func loadSigningKey(path string) error {
	if _, err := os.Stat(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make the token key: %w", err)
	}
	b, err := encodeKey(k)
	if err != nil {
		return err
	}
	return writeFile(path, b, 0o600)
}

func encodeCert(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func encodeKey(k *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		return nil, fmt.Errorf("encode a key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}
