package main

import (
	"fmt"

	"google.golang.org/grpc/codes"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func (c *checker) checkEnd(sandbox, other, id string) {
	for _, what := range []string{"running", "stopped already"} {
		c.call("StopContainer", what, func() (string, error) { return "stopped", c.runtime.StopContainer(c.ctx, id, 1) })
	}
	c.call("ContainerStatus", "exited", func() (string, error) {
		s, err := c.state(id)
		if err != nil {
			return "", err
		}
		return done(fmt.Sprintf("%s, exit code %d", s.State, s.ExitCode), want(s.State == cri.ContainerState_CONTAINER_EXITED, "state %s", s.State),
			want(s.FinishedAt >= s.StartedAt && s.StartedAt > 0, "finished at %d, started at %d", s.FinishedAt, s.StartedAt),
			want(s.ExitCode != 0, "exit code %d after a kill", s.ExitCode), want(s.Reason != "", "no reason"))
	})
	for _, what := range []string{"exited", "removed already"} {
		c.call("RemoveContainer", what, func() (string, error) { return "gone", c.runtime.RemoveContainer(c.ctx, id) })
	}
	c.call("ContainerStatus", "removed", func() (string, error) {
		_, err := c.state(id)
		return wantCode(err, codes.NotFound)
	})
	for _, what := range []string{"ready", "stopped already"} {
		c.call("StopPodSandbox", what, func() (string, error) { return "stopped", c.runtime.StopPodSandbox(c.ctx, sandbox) })
	}
	c.call("PodSandboxStatus", "stopped", func() (string, error) {
		r, err := c.runtime.PodSandboxStatus(c.ctx, sandbox, false)
		if err != nil {
			return "", err
		}
		return done(r.Status.State.String(), want(r.Status.State == cri.PodSandboxState_SANDBOX_NOTREADY, "state %s", r.Status.State))
	})
	for _, what := range []string{"stopped", "removed already"} {
		c.call("RemovePodSandbox", what, func() (string, error) { return "gone", c.runtime.RemovePodSandbox(c.ctx, sandbox) })
	}
	c.call("PodSandboxStatus", "removed", func() (string, error) {
		_, err := c.runtime.PodSandboxStatus(c.ctx, sandbox, false)
		return wantCode(err, codes.NotFound)
	})
	c.call("StopPodSandbox", "b", func() (string, error) { return "stopped", c.runtime.StopPodSandbox(c.ctx, other) })
	c.call("RemovePodSandbox", "b", func() (string, error) { return "gone", c.runtime.RemovePodSandbox(c.ctx, other) })
}
