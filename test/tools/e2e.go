//go:build tools

// Package tools names what no command of go.mod's tool block does: the end-to-end suites are test binaries.
package tools

import (
	_ "k8s.io/kubernetes/test/e2e"
	_ "k8s.io/kubernetes/test/e2e_node"
)
