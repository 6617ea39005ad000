package main

import (
	"fmt"
	"os"
	"path/filepath"

	"google.golang.org/grpc/codes"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func (c *checker) containerConfig(imageRef string) *cri.ContainerConfig {
	return &cri.ContainerConfig{
		Metadata:    &cri.ContainerMetadata{Name: "main", Attempt: 3},
		Image:       &cri.ImageSpec{Image: imageRef, UserSpecifiedImage: c.image},
		Command:     []string{"sleep"},
		Args:        []string{"3600"},
		Labels:      map[string]string{"tool": "cri-client", "container": "main"},
		Annotations: map[string]string{"note": "main"},
		LogPath:     "main/3.log",
		Mounts:      []*cri.Mount{{ContainerPath: "/given", HostPath: c.dir, Readonly: true}},
		Linux: &cri.LinuxContainerConfig{
			Resources: &cri.LinuxContainerResources{CpuShares: 256, MemoryLimitInBytes: 64 << 20},
			SecurityContext: &cri.LinuxContainerSecurityContext{
				NamespaceOptions: &cri.NamespaceOption{Pid: cri.NamespaceMode_CONTAINER},
			},
		},
	}
}

func (c *checker) state(id string) (*cri.ContainerStatus, error) {
	r, err := c.runtime.ContainerStatus(c.ctx, id, false)
	if err != nil {
		return nil, err
	}
	return r.Status, nil
}

func (c *checker) checkContainer(sandbox, imageRef string) (id string) {
	config := c.containerConfig(imageRef)
	logFile := filepath.Join(c.sandboxConfig("a").LogDirectory, config.LogPath)
	c.call("CreateContainer", "main", func() (_ string, err error) {
		if err := os.MkdirAll(filepath.Dir(logFile), 0o755); err != nil {
			return "", err
		}
		id, err = c.runtime.CreateContainer(c.ctx, sandbox, config, c.sandboxConfig("a"))
		return done(id, err, want(id != "", "no id"))
	})
	c.call("CreateContainer", "the same once more", func() (string, error) {
		again, err := c.runtime.CreateContainer(c.ctx, sandbox, config, c.sandboxConfig("a"))
		return done(fmt.Sprint(err), want(err != nil, "made %s beside %s", again, id))
	})
	c.call("CreateContainer", "in an unknown sandbox", func() (string, error) {
		made, err := c.runtime.CreateContainer(c.ctx, "no-such-sandbox", config, c.sandboxConfig("a"))
		return done(fmt.Sprint(err), want(err != nil, "made %s", made))
	})
	c.call("ContainerStatus", "created", func() (string, error) {
		s, err := c.state(id)
		if err != nil {
			return "", err
		}
		return done(s.State.String(), want(s.State == cri.ContainerState_CONTAINER_CREATED, "state %s", s.State),
			want(s.Metadata.String() == config.Metadata.String(), "metadata %v", s.Metadata),
			want(fmt.Sprint(s.Labels) == fmt.Sprint(config.Labels), "labels %v", s.Labels),
			want(fmt.Sprint(s.Annotations) == fmt.Sprint(config.Annotations), "annotations %v", s.Annotations),
			want(recent(s.CreatedAt), "created at %d", s.CreatedAt), want(s.StartedAt == 0, "started at %d", s.StartedAt),
			want(s.ImageRef != "", "no image ref"), want(s.LogPath == logFile, "log path %s", s.LogPath),
			want(len(s.Mounts) == 1 && s.Mounts[0].ContainerPath == "/given" && s.Mounts[0].Readonly, "mounts %v", s.Mounts))
	})
	c.call("StartContainer", "main", func() (string, error) { return "started", c.runtime.StartContainer(c.ctx, id) })
	c.call("StartContainer", "the same once more", func() (string, error) {
		err := c.runtime.StartContainer(c.ctx, id)
		return done(fmt.Sprint(err), want(err != nil, "started a running container"))
	})
	c.call("ContainerStatus", "running", func() (string, error) {
		s, err := c.state(id)
		if err != nil {
			return "", err
		}
		return done(s.State.String(), want(s.State == cri.ContainerState_CONTAINER_RUNNING, "state %s", s.State),
			want(s.StartedAt >= s.CreatedAt, "started at %d", s.StartedAt), want(s.FinishedAt == 0, "finished at %d", s.FinishedAt))
	})
	c.call("ContainerStatus", "unknown id", func() (string, error) {
		_, err := c.state("no-such-container")
		return wantCode(err, codes.NotFound)
	})
	c.checkContainerLists(id, sandbox)
	c.checkExec(id)
	c.call("ReopenContainerLog", "after a rename", func() (string, error) {
		if err := os.Rename(logFile, logFile+".1"); err != nil {
			return "", err
		}
		if err := c.runtime.ReopenContainerLog(c.ctx, id); err != nil {
			return "", err
		}
		_, err := os.Stat(logFile)
		return done("a new file", err)
	})
	c.call("UpdateContainerResources", "cpu shares", func() (string, error) {
		err := c.runtime.UpdateContainerResources(c.ctx, id, &cri.ContainerResources{Linux: &cri.LinuxContainerResources{CpuShares: 128}})
		if err != nil {
			return "", err
		}
		s, err := c.state(id)
		if err != nil {
			return "", err
		}
		// Older runtimes do not report resources.
		shares := s.GetResources().GetLinux().GetCpuShares()
		return done(fmt.Sprint(shares), want(s.Resources == nil || shares == 128, "cpu shares %d", shares))
	})
	return id
}

func (c *checker) checkContainerLists(id, sandbox string) {
	running := &cri.ContainerStateValue{State: cri.ContainerState_CONTAINER_RUNNING}
	exited := &cri.ContainerStateValue{State: cri.ContainerState_CONTAINER_EXITED}
	for _, f := range []struct {
		what   string
		filter *cri.ContainerFilter
		found  bool
	}{
		{"by sandbox", &cri.ContainerFilter{PodSandboxId: sandbox}, true},
		{"by label", &cri.ContainerFilter{LabelSelector: map[string]string{"container": "main"}}, true},
		{"running", &cri.ContainerFilter{Id: id, State: running}, true},
		{"exited", &cri.ContainerFilter{Id: id, State: exited}, false},
		{"another sandbox", &cri.ContainerFilter{Id: id, PodSandboxId: "no-such-sandbox"}, false},
	} {
		c.call("ListContainers", f.what, func() (string, error) {
			list, err := c.runtime.ListContainers(c.ctx, f.filter)
			if err != nil || !f.found {
				return done(fmt.Sprint(len(list)), err, want(len(list) == 0, "found %v", list))
			}
			return done(fmt.Sprint(len(list)), want(len(list) == 1 && list[0].Id == id && list[0].PodSandboxId == sandbox &&
				list[0].State == cri.ContainerState_CONTAINER_RUNNING && list[0].Metadata.Attempt == 3, "found %v", list))
		})
	}
	c.call("ListContainers", "all", func() (string, error) {
		list, err := c.runtime.ListContainers(c.ctx, nil)
		return done(fmt.Sprint(len(list)), err, want(len(list) >= 1, "none"))
	})
}
