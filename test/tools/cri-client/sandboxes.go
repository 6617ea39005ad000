package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"

	"google.golang.org/grpc/codes"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

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
