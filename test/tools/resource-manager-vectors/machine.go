package main

import (
	"math/rand"

	cadvisorapi "github.com/google/cadvisor/info/v1"
)

// machine is how a drawn machine is built; test/pure/resource-managers/drawn-machine.ts builds the same of it.
type machine struct {
	Sockets int `json:"s"`
	Nodes   int `json:"n"`
	// Cores of a node, threads of a core, uncore caches of a node.
	Cores   int `json:"c"`
	Threads int `json:"t"`
	Uncores int `json:"u"`
	// Split: the second threads are numbered after all first ones. Mixed: cores of nodes take turns.
	Split bool `json:"split,omitempty"`
	Mixed bool `json:"mixed,omitempty"`
	// Off: CPUs that are offline.
	Off []int `json:"off,omitempty"`
	// MiB of a node; pages of 2 MiB among them.
	Memory int `json:"m"`
	Pages  int `json:"p,omitempty"`
	// Far: how much further each step from node to node is.
	Far int `json:"f,omitempty"`
}

func drawMachine(d *rand.Rand) machine {
	for {
		m := machine{
			Sockets: []int{1, 1, 2, 2, 4}[d.Intn(5)],
			Nodes:   []int{1, 1, 2, 2, 3, 4, 4, 6, 8}[d.Intn(9)],
			Threads: []int{1, 2, 2, 2, 4}[d.Intn(5)],
			Uncores: []int{1, 1, 1, 2, 4}[d.Intn(5)],
			Split:   d.Intn(2) == 0,
			Mixed:   d.Intn(4) == 0,
			Memory:  1024 * (1 + d.Intn(16)),
			Pages:   []int{0, 0, 64, 128}[d.Intn(4)],
			Far:     []int{0, 10, 1}[d.Intn(3)],
		}
		m.Cores = m.Uncores * (1 + d.Intn(16))
		total := m.Nodes * m.Cores * m.Threads
		even := m.Nodes%m.Sockets == 0 || (m.Sockets%m.Nodes == 0 && m.Cores%(m.Sockets/m.Nodes) == 0)
		if total > 256 || !even {
			continue
		}
		if total > 4 && d.Intn(6) == 0 {
			for range 1 + d.Intn(2) {
				m.Off = append(m.Off, 1+d.Intn(total-1))
			}
		}
		return m
	}
}

// info is what cAdvisor would tell of it.
func (m machine) info() *cadvisorapi.MachineInfo {
	off := map[int]bool{}
	for _, cpu := range m.Off {
		off[cpu] = true
	}
	out := &cadvisorapi.MachineInfo{NumSockets: m.Sockets}
	all := m.Nodes * m.Cores
	for n := range m.Nodes {
		node := cadvisorapi.Node{Id: n, Memory: uint64(m.Memory) << 20}
		if m.Pages > 0 {
			node.HugePages = []cadvisorapi.HugePagesInfo{{PageSize: 2048, NumPages: uint64(m.Pages)}}
		}
		for to := range m.Nodes {
			step := max(n-to, to-n)
			if step == 0 {
				node.Distances = append(node.Distances, 10)
			} else {
				node.Distances = append(node.Distances, uint64(20+m.Far*step))
			}
		}
		for c := range m.Cores {
			core := cadvisorapi.Core{Id: c, SocketID: n * m.Sockets / m.Nodes}
			if m.Sockets > m.Nodes {
				per := m.Sockets / m.Nodes
				core.SocketID = n*per + c*per/m.Cores
			}
			if m.Uncores > 1 {
				core.UncoreCaches = []cadvisorapi.Cache{{Id: n*m.Uncores + c*m.Uncores/m.Cores, Level: 3}}
			}
			index := n*m.Cores + c
			if m.Mixed {
				index = c*m.Nodes + n
			}
			for t := range m.Threads {
				cpu := index*m.Threads + t
				if m.Split {
					cpu = index + t*all
				}
				if !off[cpu] {
					core.Threads = append(core.Threads, cpu)
					out.NumCores++
				}
			}
			if len(core.Threads) > 0 {
				node.Cores = append(node.Cores, core)
			}
		}
		out.Topology = append(out.Topology, node)
	}
	return out
}
