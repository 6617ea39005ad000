//go:build tools

// Package runc names runc, of a version that makes user namespaces for Kubernetes (1.2 and newer; Debian 12 has 1.1).
package runc

import _ "github.com/opencontainers/runc"
