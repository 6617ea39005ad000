//go:build tools

// Package coredns names the program that answers names of services. A module of its own: what it requires must not lift the versions that the
// Kubernetes tools beside it are built with.
package coredns

import (
	_ "github.com/coredns/coredns"
)
