package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

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
