package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	internalapi "k8s.io/cri-api/pkg/apis"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

type checker struct {
	ctx          context.Context
	runtime      internalapi.RuntimeService
	images       internalapi.ImageManagerService
	image        string
	dir          string
	execStdout   string
	execExit     int
	lenient      bool
	present      bool
	cgroupParent string

	made   map[string]bool
	failed int
	events eventLog
}

// call runs one check of `rpc` and prints its line. `what` says which use of the call it is.
func (c *checker) call(rpc, what string, check func() (string, error)) {
	c.made[rpc] = true
	outcome, err := check()
	switch {
	case err == nil:
		fmt.Printf("ok    %-26s %s: %s\n", rpc, what, outcome)
	case c.lenient && isUnimplemented(err):
		fmt.Printf("skip  %-26s %s: the runtime does not implement it\n", rpc, what)
	default:
		fmt.Printf("WRONG %-26s %s: %v\n", rpc, what, err)
		c.failed++
	}
}

func (c *checker) skip(rpc string) {
	c.made[rpc] = true
	fmt.Printf("skip  %-26s as asked\n", rpc)
}

func isUnimplemented(err error) bool {
	return status.Code(err) == codes.Unimplemented || strings.Contains(err.Error(), "not implemented")
}

func want(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// done joins an answer's checks into what `call` prints.
func done(outcome string, problems ...error) (string, error) {
	return outcome, errors.Join(problems...)
}

func wantCode(err error, code codes.Code) (string, error) {
	if status.Code(err) != code {
		return "", fmt.Errorf("answered %v, must fail with %v", err, code)
	}
	return code.String(), nil
}

func sameIDs(got, expected []string) error {
	slices.Sort(got)
	expected = slices.Clone(expected)
	slices.Sort(expected)
	return want(slices.Equal(got, expected), "got %v, must be %v", got, expected)
}

func recent(ns int64) bool {
	return time.Since(time.Unix(0, ns)).Abs() < time.Hour
}

func wantURL(text string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	u, err := url.Parse(text)
	return done(text, err, want(u != nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "", "url %q", text))
}

// checkComplete finds the calls of the contract that nothing above has made.
func (c *checker) checkComplete() {
	var names []string
	for _, m := range slices.Concat(cri.RuntimeService_ServiceDesc.Methods, cri.ImageService_ServiceDesc.Methods) {
		names = append(names, m.MethodName)
	}
	for _, s := range cri.RuntimeService_ServiceDesc.Streams {
		names = append(names, s.StreamName)
	}
	for _, name := range names {
		if !c.made[name] {
			fmt.Printf("WRONG %-26s was never called\n", name)
			c.failed++
		}
	}
	fmt.Printf("%d methods called, %d wrong\n", len(c.made), c.failed)
}
