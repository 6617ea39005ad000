//go:build tools

// Package containerd2 names the programs of containerd v2. A module of its own: what containerd requires must not
// lift the versions that the Kubernetes tools beside it are built with.
package containerd2

import (
	_ "github.com/containerd/containerd/v2/cmd/containerd"
	_ "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2"
)
