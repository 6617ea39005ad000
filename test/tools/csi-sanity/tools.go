//go:build tools

// Package csisanity names the program that judges CSI drivers. A module of its own: what it requires must not lift the versions that the
// Kubernetes tools beside it are built with.
package csisanity

import (
	_ "github.com/kubernetes-csi/csi-test/v5/cmd/csi-sanity"
)
