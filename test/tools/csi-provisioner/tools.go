//go:build tools

// Package csiprovisioner names the program that makes volumes of CSI drivers for claims. A module of its own: what it requires must not lift the versions
// that the Kubernetes tools beside it are built with.
package csiprovisioner

import (
	_ "github.com/kubernetes-csi/external-provisioner/v6/cmd/csi-provisioner"
)
