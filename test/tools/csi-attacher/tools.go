//go:build tools

// Package csiattacher names the program that attaches volumes of CSI drivers. A module of its own: what it requires must not lift the versions
// that the Kubernetes tools beside it are built with.
package csiattacher

import (
	_ "github.com/kubernetes-csi/external-attacher/v4/cmd/csi-attacher"
)
