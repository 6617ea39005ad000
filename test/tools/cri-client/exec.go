package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
	utilexec "k8s.io/utils/exec"
)

func (c *checker) checkExec(id string) {
	c.call("ExecSync", "output and exit code", func() (string, error) {
		command := fmt.Sprintf("echo %s; exit %d", c.execStdout, c.execExit)
		stdout, stderr, err := c.runtime.ExecSync(c.ctx, id, []string{"sh", "-c", command}, 10*time.Second)
		exit := 0
		var coded utilexec.ExitError
		if errors.As(err, &coded) {
			exit, err = coded.ExitStatus(), nil
		}
		return done(fmt.Sprintf("%q, exit code %d", stdout, exit), err,
			want(exit == c.execExit, "exit code %d, stderr %q", exit, stderr),
			want(strings.TrimSpace(string(stdout)) == c.execStdout, "stdout %q", stdout))
	})
	c.call("ExecSync", "unknown id", func() (string, error) {
		_, _, err := c.runtime.ExecSync(c.ctx, "no-such-container", []string{"true"}, time.Second)
		return wantCode(err, codes.NotFound)
	})
	c.call("Exec", "url", func() (string, error) {
		r, err := c.runtime.Exec(c.ctx, &cri.ExecRequest{ContainerId: id, Cmd: []string{"true"}, Stdout: true, Stderr: true})
		return wantURL(r.GetUrl(), err)
	})
	c.call("Attach", "url", func() (string, error) {
		r, err := c.runtime.Attach(c.ctx, &cri.AttachRequest{ContainerId: id, Stdout: true, Stderr: true})
		return wantURL(r.GetUrl(), err)
	})
}
