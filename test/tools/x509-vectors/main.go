// Records what Go's x509 verifier, asked as kubelet asks it for client certificates (k8s.io/apiserver's x509 request authenticator:
// roots, what the client sent beside its own as intermediates, usage ClientAuth), makes of chains good and bad, for
// test/pure/authn/x509-vectors.test.ts. To make the record again (after a new Kubernetes release):
//
//	cd test/tools && go run ./x509-vectors > ../pure/authn/go-x509-vectors.json
package main

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// vector is a chain and what Go says of it; certificates are DER as base64.
type vector struct {
	Name          string   `json:"name"`
	Leaf          []byte   `json:"leaf"`
	Intermediates [][]byte `json:"intermediates,omitempty"`
	Roots         [][]byte `json:"roots"`
	// Error is Go's; without one the chain is good.
	Error string `json:"error,omitempty"`
}

func main() {
	record := chains()
	fmt.Printf("{\"now\":%q,\"chains\":[\n", now.Format("2006-01-02T15:04:05Z"))
	for i, c := range record {
		v := vector{Name: c.name, Leaf: c.leaf.der}
		for _, one := range c.intermediates {
			v.Intermediates = append(v.Intermediates, one.der)
		}
		for _, one := range c.roots {
			v.Roots = append(v.Roots, one.der)
		}
		if err := verify(v); err != nil {
			v.Error = err.Error()
		}
		var line bytes.Buffer
		encoder := json.NewEncoder(&line)
		encoder.SetEscapeHTML(false)
		must(encoder.Encode(v))
		comma := ","
		if i == len(record)-1 {
			comma = ""
		}
		fmt.Printf("  %s%s\n", strings.TrimSpace(line.String()), comma)
	}
	fmt.Println("]}")
}

// verify as a server does that got these certificates: it parses all of them first.
func verify(v vector) error {
	options := x509.VerifyOptions{
		Roots: x509.NewCertPool(), Intermediates: x509.NewCertPool(), CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	for _, der := range v.Roots {
		root, err := x509.ParseCertificate(der)
		if err != nil {
			return fmt.Errorf("root: %w", err)
		}
		options.Roots.AddCert(root)
	}
	leaf, err := x509.ParseCertificate(v.Leaf)
	if err != nil {
		return fmt.Errorf("leaf: %w", err)
	}
	for _, der := range v.Intermediates {
		intermediate, err := x509.ParseCertificate(der)
		if err != nil {
			return fmt.Errorf("intermediate: %w", err)
		}
		options.Intermediates.AddCert(intermediate)
	}
	_, err = leaf.Verify(options)
	return err
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		panic(err)
	}
}
