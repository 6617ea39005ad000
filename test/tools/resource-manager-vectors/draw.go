package main

import (
	"fmt"
	"math/rand"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// rules are the configuration of a drawn node.
type rules struct {
	CPU        bool              `json:"cpu,omitempty"`
	CPUOptions map[string]string `json:"cpuOptions,omitempty"`
	// Reserved: how many CPUs; which of them, where that is told.
	Reserved        int               `json:"reserved,omitempty"`
	Which           string            `json:"which,omitempty"`
	Memory          bool              `json:"memory,omitempty"`
	ReservedMiB     []int             `json:"reservedMiB,omitempty"`
	Topology        string            `json:"topology,omitempty"`
	Scope           string            `json:"scope,omitempty"`
	TopologyOptions map[string]string `json:"topologyOptions,omitempty"`
}

var cpuOptions = []string{
	"full-pcpus-only", "distribute-cpus-across-numa", "align-by-socket", "distribute-cpus-across-cores",
	"strict-cpu-reservation", "prefer-align-cpus-by-uncorecache",
}

func drawRules(d *rand.Rand, m machine) rules {
	r := rules{CPU: d.Intn(10) > 0, Memory: d.Intn(2) == 0, CPUOptions: map[string]string{}, TopologyOptions: map[string]string{}}
	if r.CPU {
		for range d.Intn(3) {
			r.CPUOptions[cpuOptions[d.Intn(len(cpuOptions))]] = []string{"true", "true", "true", "true", "false"}[d.Intn(5)]
		}
		total := m.Nodes * m.Cores * m.Threads
		r.Reserved = 1 + d.Intn(max(1, min(6, total/2)))
		if d.Intn(3) == 0 {
			which := d.Perm(total)[:r.Reserved]
			for i, cpu := range which {
				if i > 0 {
					r.Which += ","
				}
				r.Which += fmt.Sprint(cpu)
			}
		}
	}
	if r.Memory {
		for range m.Nodes {
			r.ReservedMiB = append(r.ReservedMiB, []int{0, 64, 100}[d.Intn(3)])
		}
		if d.Intn(20) > 0 {
			r.ReservedMiB[0] = 128
		}
	}
	r.Topology = []string{"none", "best-effort", "restricted", "single-numa-node"}[d.Intn(4)]
	r.Scope = []string{"container", "pod"}[d.Intn(2)]
	if d.Intn(3) == 0 {
		r.TopologyOptions["prefer-closest-numa-nodes"] = "true"
	}
	return r
}

// container is a drawn container. Kind: app, init, or sidecar.
type container struct {
	Kind  string `json:"k,omitempty"`
	CPU   string `json:"c"`
	MiB   int    `json:"m"`
	Pages int    `json:"p,omitempty"`
}

// pod is a drawn pod. QoS: Guaranteed but for the burstable ones; Level: resources are set for the pod as well.
type pod struct {
	Containers []container `json:"c"`
	Burstable  bool        `json:"b,omitempty"`
	Level      bool        `json:"l,omitempty"`
}

func drawPod(d *rand.Rand, m machine, pages bool) pod {
	p := pod{Burstable: d.Intn(12) == 0, Level: d.Intn(30) == 0}
	total := m.Nodes * m.Cores * m.Threads
	one := func(kind string) container {
		c := container{Kind: kind, MiB: 1 + d.Intn(max(1, m.Memory/2))}
		if d.Intn(6) == 0 {
			c.MiB = 1 + d.Intn(m.Memory*min(m.Nodes, 3))
		}
		n := 1 + d.Intn(4)
		switch d.Intn(6) {
		case 0:
			n = 1 + d.Intn(max(1, total))
		case 1:
			n = m.Threads * (1 + d.Intn(max(1, m.Cores)))
		case 2:
			n = m.Threads * (1 + d.Intn(3))
		}
		c.CPU = fmt.Sprint(n)
		switch d.Intn(12) {
		case 0:
			c.CPU = fmt.Sprintf("%dm", 100+d.Intn(3000))
		case 1:
			c.CPU = fmt.Sprintf("%d000m", n)
		}
		if pages && d.Intn(3) == 0 {
			c.Pages = 1 + d.Intn(m.Pages)
		}
		return c
	}
	for range []int{0, 0, 0, 1, 2}[d.Intn(5)] {
		p.Containers = append(p.Containers, one([]string{"init", "init", "sidecar"}[d.Intn(3)]))
	}
	for range 1 + d.Intn(2) {
		p.Containers = append(p.Containers, one(""))
	}
	return p
}

func (p pod) object(number int) *v1.Pod {
	out := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("p%d", number), Namespace: "default", UID: types.UID(fmt.Sprintf("uid-%d", number))}}
	for i, c := range p.Containers {
		list := v1.ResourceList{
			v1.ResourceCPU:    resource.MustParse(c.CPU),
			v1.ResourceMemory: resource.MustParse(fmt.Sprintf("%dMi", c.MiB)),
		}
		if c.Pages > 0 {
			list["hugepages-2Mi"] = resource.MustParse(fmt.Sprintf("%dMi", 2*c.Pages))
		}
		object := v1.Container{Name: fmt.Sprintf("c%d", i), Resources: v1.ResourceRequirements{Requests: list, Limits: list}}
		if p.Burstable {
			object.Resources.Limits = nil
		}
		always := v1.ContainerRestartPolicyAlways
		switch c.Kind {
		case "sidecar":
			object.RestartPolicy = &always
			out.Spec.InitContainers = append(out.Spec.InitContainers, object)
		case "init":
			out.Spec.InitContainers = append(out.Spec.InitContainers, object)
		default:
			out.Spec.Containers = append(out.Spec.Containers, object)
		}
	}
	if p.Level {
		list := v1.ResourceList{v1.ResourceCPU: resource.MustParse("4"), v1.ResourceMemory: resource.MustParse("1Gi")}
		out.Spec.Resources = &v1.ResourceRequirements{Requests: list, Limits: list}
	}
	return out
}
