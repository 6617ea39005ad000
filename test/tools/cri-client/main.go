// cri-client makes every call of CRI v1 on a runtime, through the client that the kubelet uses, and checks the
// answers. It prints one line a call and exits 1 when an answer is wrong or a call of the contract was not made.
//
//	cri-client -endpoint unix:///run/x.sock -image IMAGE [-image-endpoint ...] [-dir FOLDER]
//	           [-exec-stdout TEXT -exec-exit N] [-lenient] [-present] [-cgroup-parent /PATH]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	internalapi "k8s.io/cri-api/pkg/apis"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
	client "k8s.io/cri-client/pkg"
	utilexec "k8s.io/utils/exec"
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

type eventLog struct {
	sync.Mutex
	byID map[string][]cri.ContainerEventType
	err  error
}

func (c *checker) watchEvents() {
	received := make(chan *cri.ContainerEventResponse, 100)
	established := make(chan struct{})
	go func() {
		err := c.runtime.GetContainerEvents(c.ctx, received, func(cri.RuntimeService_GetContainerEventsClient) {
			close(established)
		})
		c.events.Lock()
		c.events.err = err
		c.events.Unlock()
	}()
	go func() {
		for e := range received {
			c.events.Lock()
			c.events.byID[e.ContainerId] = append(c.events.byID[e.ContainerId], e.ContainerEventType)
			c.events.Unlock()
		}
	}()
	select {
	case <-established:
		// The stream exists on this side; the runtime registers the listener shortly after.
		time.Sleep(300 * time.Millisecond)
	case <-time.After(5 * time.Second):
	}
}

func (c *checker) checkEvents(id string) {
	expected := []cri.ContainerEventType{
		cri.ContainerEventType_CONTAINER_CREATED_EVENT, cri.ContainerEventType_CONTAINER_STARTED_EVENT,
		cri.ContainerEventType_CONTAINER_STOPPED_EVENT, cri.ContainerEventType_CONTAINER_DELETED_EVENT,
	}
	c.call("GetContainerEvents", "all of one container, in order", func() (string, error) {
		var got []cri.ContainerEventType
		for range 100 {
			c.events.Lock()
			got = slices.Clone(c.events.byID[id])
			err := c.events.err
			c.events.Unlock()
			if err != nil {
				return "", err
			}
			if len(got) >= len(expected) {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		return done(fmt.Sprint(got), want(slices.Equal(got, expected), "got %v, must be %v", got, expected))
	})
}

func (c *checker) checkRuntime() {
	c.call("Version", "v1", func() (string, error) {
		v, err := c.runtime.Version(c.ctx, "v1")
		if err != nil {
			return "", err
		}
		return done(v.RuntimeName+" "+v.RuntimeVersion, want(v.RuntimeApiVersion == "v1", "api version %q", v.RuntimeApiVersion))
	})
	for _, verbose := range []bool{false, true} {
		c.call("Status", fmt.Sprintf("verbose=%t", verbose), func() (string, error) {
			s, err := c.runtime.Status(c.ctx, verbose)
			if err != nil {
				return "", err
			}
			ready := 0
			for _, condition := range s.Status.GetConditions() {
				if (condition.Type == cri.RuntimeReady || condition.Type == cri.NetworkReady) && condition.Status {
					ready++
				}
			}
			return done("ready", want(ready == 2, "not ready: %v", s.Status.GetConditions()))
		})
	}
	c.call("RuntimeConfig", "cgroup driver", func() (string, error) {
		r, err := c.runtime.RuntimeConfig(c.ctx)
		if err != nil {
			return "", err
		}
		return done(r.GetLinux().GetCgroupDriver().String(), want(r.Linux != nil, "no linux part"))
	})
	c.call("UpdateRuntimeConfig", "pod CIDR", func() (string, error) {
		network := &cri.NetworkConfig{PodCidr: "10.244.0.0/24"}
		return "taken", c.runtime.UpdateRuntimeConfig(c.ctx, &cri.RuntimeConfig{NetworkConfig: network})
	})
}

func (c *checker) checkImagePresence() string {
	spec := &cri.ImageSpec{Image: c.image, UserSpecifiedImage: c.image}
	ref := c.image
	if c.present {
		c.skip("PullImage")
	} else {
		c.call("PullImage", c.image, func() (answer string, err error) {
			ref, err = c.images.PullImage(c.ctx, spec, nil, c.sandboxConfig("a"))
			return ref, err
		})
	}
	c.call("ImageStatus", "present", func() (string, error) {
		s, err := c.images.ImageStatus(c.ctx, spec, true)
		if err != nil {
			return "", err
		}
		i := s.GetImage()
		return done(i.GetId(), want(i.GetId() != "", "no id"), want(i.GetSize() > 0, "no size"),
			want(slices.Contains(i.GetRepoTags(), c.image), "tags %v without %s", i.GetRepoTags(), c.image))
	})
	c.call("ImageStatus", "by the reference that PullImage gave", func() (string, error) {
		s, err := c.images.ImageStatus(c.ctx, &cri.ImageSpec{Image: ref}, false)
		if err != nil {
			return "", err
		}
		return done(s.GetImage().GetId(), want(s.Image != nil, "no image"))
	})
	c.call("ImageStatus", "absent", func() (string, error) {
		s, err := c.images.ImageStatus(c.ctx, &cri.ImageSpec{Image: "example.org/absent:none"}, false)
		if err != nil {
			return "", err
		}
		return done("nothing", want(s.Image == nil, "got %v", s.Image))
	})
	c.call("ListImages", "all", func() (string, error) {
		all, err := c.images.ListImages(c.ctx, nil)
		return done(fmt.Sprint(len(all)), err, want(len(all) > 0, "none"))
	})
	c.call("ListImages", "one by name", func() (string, error) {
		some, err := c.images.ListImages(c.ctx, &cri.ImageFilter{Image: spec})
		return done(fmt.Sprint(len(some)), err, want(len(some) == 1 || c.lenient, "%d images", len(some)))
	})
	c.call("ListImages", "absent name", func() (string, error) {
		none, err := c.images.ListImages(c.ctx, &cri.ImageFilter{Image: &cri.ImageSpec{Image: "example.org/absent:none"}})
		return done(fmt.Sprint(len(none)), err, want(len(none) == 0 || c.lenient, "%d images", len(none)))
	})
	c.call("ImageFsInfo", "", func() (string, error) {
		info, err := c.images.ImageFsInfo(c.ctx)
		if err != nil {
			return "", err
		}
		if len(info.ImageFilesystems) == 0 {
			return "", errors.New("no image filesystem")
		}
		f := info.ImageFilesystems[0]
		return done(f.GetFsId().GetMountpoint(), want(f.GetFsId().GetMountpoint() != "", "no mountpoint"),
			want(f.GetTimestamp() > 0, "no timestamp"), want(f.UsedBytes != nil, "no used bytes"))
	})
	return ref
}

func (c *checker) checkImageRemoval() {
	if c.present {
		c.skip("RemoveImage")
		return
	}
	spec := &cri.ImageSpec{Image: c.image}
	for _, what := range []string{"present", "absent"} {
		c.call("RemoveImage", what, func() (string, error) { return "gone", c.images.RemoveImage(c.ctx, spec) })
	}
	c.call("ImageStatus", "removed", func() (string, error) {
		s, err := c.images.ImageStatus(c.ctx, spec, false)
		if err != nil {
			return "", err
		}
		return done("nothing", want(s.Image == nil, "got %v", s.Image))
	})
}

// sandboxConfig is a sandbox on the pod network; name, uid and labels differ by `name`.
func (c *checker) sandboxConfig(name string) *cri.PodSandboxConfig {
	return &cri.PodSandboxConfig{
		Metadata:     &cri.PodSandboxMetadata{Name: "cri-client-" + name, Uid: "uid-" + name, Namespace: "cri-client", Attempt: 1},
		Hostname:     name,
		LogDirectory: filepath.Join(c.dir, "logs", name),
		DnsConfig:    &cri.DNSConfig{Servers: []string{"10.96.0.10"}, Searches: []string{"cluster.local"}},
		Labels:       map[string]string{"name": name, "tool": "cri-client"},
		Annotations:  map[string]string{"note": name},
		Linux: &cri.LinuxPodSandboxConfig{CgroupParent: c.cgroupParent, SecurityContext: &cri.LinuxSandboxSecurityContext{
			NamespaceOptions: &cri.NamespaceOption{Pid: cri.NamespaceMode_CONTAINER},
		}},
	}
}

func (c *checker) runSandbox(name string) (id string) {
	c.call("RunPodSandbox", name, func() (_ string, err error) {
		if err := os.MkdirAll(c.sandboxConfig(name).LogDirectory, 0o755); err != nil {
			return "", err
		}
		id, err = c.runtime.RunPodSandbox(c.ctx, c.sandboxConfig(name), "")
		return done(id, err, want(id != "", "no id"))
	})
	return id
}

func (c *checker) checkSandbox(id, other string) {
	config := c.sandboxConfig("a")
	c.call("RunPodSandbox", "the same once more", func() (string, error) {
		again, err := c.runtime.RunPodSandbox(c.ctx, config, "")
		return done(fmt.Sprint(err), want(err != nil, "made %s beside %s", again, id))
	})
	c.call("RunPodSandbox", "unknown runtime handler", func() (string, error) {
		made, err := c.runtime.RunPodSandbox(c.ctx, c.sandboxConfig("c"), "no-such-handler")
		return done(fmt.Sprint(err), want(err != nil, "made %s", made))
	})
	c.call("PodSandboxStatus", "ready", func() (string, error) {
		r, err := c.runtime.PodSandboxStatus(c.ctx, id, true)
		if err != nil {
			return "", err
		}
		s := r.Status
		ip := s.GetNetwork().GetIp()
		return done(ip, want(s.Id == id, "id %s", s.Id),
			want(s.State == cri.PodSandboxState_SANDBOX_READY, "state %s", s.State),
			want(s.Metadata.String() == config.Metadata.String(), "metadata %v", s.Metadata),
			want(fmt.Sprint(s.Labels) == fmt.Sprint(config.Labels), "labels %v", s.Labels),
			want(fmt.Sprint(s.Annotations) == fmt.Sprint(config.Annotations), "annotations %v", s.Annotations),
			want(s.GetLinux().GetNamespaces().GetOptions().GetPid() == cri.NamespaceMode_CONTAINER, "pid namespace"),
			want(net.ParseIP(ip) != nil, "ip %q", ip), want(recent(s.CreatedAt), "created at %d", s.CreatedAt))
	})
	c.call("PodSandboxStatus", "unknown id", func() (string, error) {
		_, err := c.runtime.PodSandboxStatus(c.ctx, "no-such-sandbox", false)
		return wantCode(err, codes.NotFound)
	})
	ready := &cri.PodSandboxStateValue{State: cri.PodSandboxState_SANDBOX_READY}
	notReady := &cri.PodSandboxStateValue{State: cri.PodSandboxState_SANDBOX_NOTREADY}
	ours := map[string]string{"tool": "cri-client"}
	for _, f := range []struct {
		what   string
		filter *cri.PodSandboxFilter
		ids    []string
	}{
		{"by label", &cri.PodSandboxFilter{LabelSelector: ours}, []string{id, other}},
		{"by two labels", &cri.PodSandboxFilter{LabelSelector: map[string]string{"tool": "cri-client", "name": "b"}}, []string{other}},
		{"by id", &cri.PodSandboxFilter{Id: id}, []string{id}},
		{"ready", &cri.PodSandboxFilter{State: ready, LabelSelector: ours}, []string{id, other}},
		{"not ready", &cri.PodSandboxFilter{State: notReady, LabelSelector: ours}, nil},
		{"id and another's label", &cri.PodSandboxFilter{Id: id, LabelSelector: map[string]string{"name": "b"}}, nil},
	} {
		c.call("ListPodSandbox", f.what, func() (string, error) {
			list, err := c.runtime.ListPodSandbox(c.ctx, f.filter)
			var ids []string
			for _, s := range list {
				ids = append(ids, s.Id)
			}
			return done(fmt.Sprint(len(ids)), err, sameIDs(ids, f.ids))
		})
	}
	c.call("ListPodSandbox", "all", func() (string, error) {
		list, err := c.runtime.ListPodSandbox(c.ctx, nil)
		return done(fmt.Sprint(len(list)), err, want(len(list) >= 2, "%d sandboxes", len(list)))
	})
	c.call("PortForward", "url", func() (string, error) {
		r, err := c.runtime.PortForward(c.ctx, &cri.PortForwardRequest{PodSandboxId: id, Port: []int32{80}})
		return wantURL(r.GetUrl(), err)
	})
	c.call("UpdatePodSandboxResources", "", func() (string, error) {
		_, err := c.runtime.UpdatePodSandboxResources(c.ctx, &cri.UpdatePodSandboxResourcesRequest{
			PodSandboxId: id, Resources: &cri.LinuxContainerResources{CpuShares: 512},
		})
		return "taken", err
	})
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

func (c *checker) checkStats(sandbox, id string) {
	whole := func(s *cri.ContainerStats) error {
		return errors.Join(want(s.GetAttributes().GetId() == id, "attributes %v", s.GetAttributes()),
			want(s.GetAttributes().GetMetadata().GetName() == "main", "metadata %v", s.GetAttributes().GetMetadata()),
			want(s.GetCpu().GetTimestamp() > 0 && s.Cpu.UsageCoreNanoSeconds != nil, "cpu %v", s.GetCpu()),
			want(s.GetMemory().GetTimestamp() > 0 && s.Memory.WorkingSetBytes != nil, "memory %v", s.GetMemory()))
	}
	c.call("ContainerStats", "main", func() (string, error) {
		s, err := c.runtime.ContainerStats(c.ctx, id)
		if err != nil {
			return "", err
		}
		return done("cpu and memory", whole(s))
	})
	c.call("ListContainerStats", "by sandbox", func() (string, error) {
		list, err := c.runtime.ListContainerStats(c.ctx, &cri.ContainerStatsFilter{PodSandboxId: sandbox})
		if err != nil || len(list) != 1 {
			return done("", err, want(len(list) == 1, "%d entries", len(list)))
		}
		return done("1", whole(list[0]))
	})
	pod := func(s *cri.PodSandboxStats) error {
		return errors.Join(want(s.GetAttributes().GetId() == sandbox, "attributes %v", s.GetAttributes()),
			want(s.GetLinux().GetCpu().GetTimestamp() > 0, "cpu %v", s.GetLinux().GetCpu()),
			want(len(s.GetLinux().GetContainers()) == 1, "containers %v", s.GetLinux().GetContainers()))
	}
	c.call("PodSandboxStats", "a", func() (string, error) {
		s, err := c.runtime.PodSandboxStats(c.ctx, sandbox)
		if err != nil {
			return "", err
		}
		return done("cpu and containers", pod(s))
	})
	c.call("ListPodSandboxStats", "by id", func() (string, error) {
		list, err := c.runtime.ListPodSandboxStats(c.ctx, &cri.PodSandboxStatsFilter{Id: sandbox})
		if err != nil || len(list) != 1 {
			return done("", err, want(len(list) == 1, "%d entries", len(list)))
		}
		return done("1", pod(list[0]))
	})
	described := map[string]int{}
	c.call("ListMetricDescriptors", "", func() (string, error) {
		list, err := c.runtime.ListMetricDescriptors(c.ctx)
		for _, d := range list {
			described[d.Name] = len(d.LabelKeys)
		}
		return done(fmt.Sprint(len(list)), err, want(len(list) > 0, "none"))
	})
	c.call("ListPodSandboxMetrics", "as described", func() (string, error) {
		list, err := c.runtime.ListPodSandboxMetrics(c.ctx)
		if err != nil {
			return "", err
		}
		var problems []error
		for _, p := range list {
			metrics := slices.Clone(p.Metrics)
			for _, m := range p.ContainerMetrics {
				metrics = append(metrics, m.Metrics...)
			}
			for _, m := range metrics {
				labels, known := described[m.Name]
				problems = append(problems, want(known && labels == len(m.LabelValues), "metric %s, %d label values", m.Name, len(m.LabelValues)))
			}
		}
		found := slices.ContainsFunc(list, func(p *cri.PodSandboxMetrics) bool { return p.PodSandboxId == sandbox })
		return done(fmt.Sprint(len(list)), append(problems, want(found, "nothing of sandbox %s", sandbox))...)
	})
	c.call("CheckpointContainer", "to a file", func() (string, error) {
		file := filepath.Join(c.dir, "checkpoint.tar")
		err := c.runtime.CheckpointContainer(c.ctx, &cri.CheckpointContainerRequest{ContainerId: id, Location: file, Timeout: 30})
		if err != nil {
			return "", err
		}
		_, err = os.Stat(file)
		return done("written", err)
	})
}

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

func main() {
	endpoint := flag.String("endpoint", "", "socket of the runtime, unix:///...")
	imageEndpoint := flag.String("image-endpoint", "", "socket of the image service, if it is another")
	c := &checker{made: map[string]bool{}, events: eventLog{byID: map[string][]cri.ContainerEventType{}}}
	flag.StringVar(&c.image, "image", "docker.io/library/busybox:latest", "image to pull, use and remove")
	flag.StringVar(&c.dir, "dir", "", "existing folder for logs and the checkpoint; default: a new one, removed at the end")
	flag.StringVar(&c.execStdout, "exec-stdout", "hello", "what `sh -c 'echo hello; exit 3'` must print")
	flag.IntVar(&c.execExit, "exec-exit", 3, "the exit code it must have")
	flag.BoolVar(&c.lenient, "lenient", false, "accept Unimplemented, and image lists that ignore their filter (containerd does)")
	flag.BoolVar(&c.present, "present", false, "the image is on the runtime already and cannot be pulled: do not pull or remove it")
	flag.StringVar(&c.cgroupParent, "cgroup-parent", "", "cgroup of the sandboxes; some runtimes have no pod statistics without")
	flag.Parse()
	os.Exit(run(c, *endpoint, *imageEndpoint))
}

func run(c *checker, endpoint, imageEndpoint string) int {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c.ctx = ctx
	if imageEndpoint == "" {
		imageEndpoint = endpoint
	}
	var err error
	if c.dir == "" {
		if c.dir, err = os.MkdirTemp("", "cri-client-"); err != nil {
			fmt.Fprintln(os.Stderr, "cri-client:", err)
			return 2
		}
		defer os.RemoveAll(c.dir)
	}
	if c.runtime, err = client.NewRemoteRuntimeService(endpoint, 10*time.Second, nil, nil); err == nil {
		c.images, err = client.NewRemoteImageService(imageEndpoint, 10*time.Second, nil, nil)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cri-client:", err)
		return 2
	}
	c.checkRuntime()
	c.watchEvents()
	ref := c.checkImagePresence()
	sandbox, other := c.runSandbox("a"), c.runSandbox("b")
	c.checkSandbox(sandbox, other)
	id := c.checkContainer(sandbox, ref)
	c.checkStats(sandbox, id)
	c.checkEnd(sandbox, other, id)
	c.checkEvents(id)
	c.checkImageRemoval()
	c.checkComplete()
	if c.failed > 0 {
		return 1
	}
	return 0
}
