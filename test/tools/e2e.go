//go:build tools

// Package tools names what no command of go.mod's tool block does: the end-to-end suite is a test binary.
package tools

import _ "k8s.io/kubernetes/test/e2e"
