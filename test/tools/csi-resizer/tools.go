//go:build tools

// Package csiresizer names the program that has CSI drivers grow volumes. A module of its own: what it requires must not lift the versions
// that the Kubernetes tools beside it are built with.
package csiresizer

import (
	_ "github.com/kubernetes-csi/external-resizer/v2/cmd/csi-resizer"
)
