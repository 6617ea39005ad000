package main

import (
	"fmt"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

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
