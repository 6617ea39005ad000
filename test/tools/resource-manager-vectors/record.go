package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/cm/containermap"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/memorymanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/memorymanager/state"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
	"k8s.io/utils/cpuset"
)

type ready struct{}

func (ready) AddSource(string) {}
func (ready) AllReady() bool   { return true }

type nobody struct{}

func (nobody) GetPodStatus(types.UID) (v1.PodStatus, bool) { return v1.PodStatus{}, false }

// node is one kubelet's managers.
type node struct {
	cpus     cpumanager.Manager
	memory   memorymanager.Manager
	topology topologymanager.Manager
	mutex    sync.Mutex
	active   []*v1.Pod
	folder   string
}

func (n *node) pods() []*v1.Pod {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	return slices.Clone(n.active)
}

func (n *node) start(m machine, r rules) error {
	info := m.info()
	var err error
	if n.topology, err = topologymanager.NewManager(info.Topology, r.Topology, r.Scope, r.TopologyOptions); err != nil {
		return err
	}
	which, err := cpuset.Parse(r.Which)
	must(err)
	policy := "none"
	if r.CPU {
		policy = "static"
	}
	reserved := v1.ResourceList{v1.ResourceCPU: *resource.NewQuantity(int64(r.Reserved), resource.DecimalSI)}
	logger := klog.Background()
	if n.cpus, err = cpumanager.NewManager(logger, policy, r.CPUOptions, time.Hour, info, which, reserved, n.folder, n.topology); err != nil {
		return err
	}
	n.topology.AddHintProvider(logger, n.cpus)
	policy = "None"
	var list []kubeletconfig.MemoryReservation
	total := int64(0)
	if r.Memory {
		policy = "Static"
		for id, mib := range r.ReservedMiB {
			if mib == 0 {
				continue
			}
			total += int64(mib) << 20
			amount := *resource.NewQuantity(int64(mib)<<20, resource.BinarySI)
			list = append(list, kubeletconfig.MemoryReservation{NumaNode: int32(id), Limits: v1.ResourceList{v1.ResourceMemory: amount}})
		}
	}
	reserved[v1.ResourceMemory] = *resource.NewQuantity(total, resource.BinarySI)
	if n.memory, err = memorymanager.NewManager(logger, policy, info, reserved, list, n.folder, n.topology); err != nil {
		return err
	}
	n.topology.AddHintProvider(logger, n.memory)
	ctx := context.Background()
	if err = n.cpus.Start(ctx, n.pods, ready{}, nobody{}, nil, containermap.NewContainerMap()); err != nil {
		return err
	}
	return n.memory.Start(ctx, n.pods, ready{}, nobody{}, nil, containermap.NewContainerMap())
}

func record(d *rand.Rand, files bool) *drawnCase {
	m := drawMachine(d)
	r := drawRules(d, m)
	made := &drawnCase{Machine: m, Rules: r}
	folder, err := os.MkdirTemp("", "managers")
	must(err)
	defer os.RemoveAll(folder)
	n := &node{folder: folder}
	if err := n.start(m, r); err != nil {
		made.Fails = err.Error()
		return made
	}
	// Three lists of hints of eight nodes take kubelet minutes.
	pages := m.Pages > 0 && (m.Nodes < 6 || r.Topology == "none")
	there := map[int]bool{}
	for number := 1; number <= 3+d.Intn(8); number++ {
		if len(there) > 0 && d.Intn(4) == 0 {
			var all []int
			for each := range there {
				all = append(all, each)
			}
			sort.Ints(all)
			gone := all[d.Intn(len(all))]
			delete(there, gone)
			uid := types.UID(fmt.Sprintf("uid-%d", gone))
			n.mutex.Lock()
			n.active = slices.DeleteFunc(n.active, func(each *v1.Pod) bool { return each.UID == uid })
			n.mutex.Unlock()
			made.Steps = append(made.Steps, step{Gone: gone})
		}
		drawn := drawPod(d, m, pages)
		object := drawn.object(number)
		n.mutex.Lock()
		n.active = append(n.active, object)
		n.mutex.Unlock()
		s := step{Pod: &drawn, Hints: n.hints(object)}
		answer := n.topology.Admit(&lifecycle.PodAdmitAttributes{Pod: object})
		if answer.Admit {
			there[number] = true
			s.Given = n.given(object)
		} else {
			s.Refused = []string{answer.Reason, answer.Message}
			n.mutex.Lock()
			n.active = n.active[:len(n.active)-1]
			n.mutex.Unlock()
			// Part of it may have been given: the next question makes it free.
			n.cpus.GetTopologyHints(object, &object.Spec.Containers[0])
			n.memory.GetTopologyHints(object, &object.Spec.Containers[0])
		}
		n.check()
		s.After = n.after()
		made.Steps = append(made.Steps, s)
	}
	if files {
		for _, name := range []string{"cpu_manager_state", "memory_manager_state"} {
			text, err := os.ReadFile(filepath.Join(folder, name))
			must(err)
			made.Files = append(made.Files, string(text))
		}
	}
	return made
}

// check panics when kubelet gave a CPU to two pods, or a reserved one: so it does where cores, or sockets, have different numbers of
// CPUs online (isCoreFree and isSocketFree go by the mean). Such a case is none to be equal to.
func (n *node) check() {
	taken := n.cpus.State().GetDefaultCPUSet()
	for _, containers := range n.cpus.State().GetCPUAssignments() {
		own := cpuset.New()
		for _, cpus := range containers {
			own = own.Union(cpus)
		}
		if !own.Intersection(taken).IsEmpty() || !own.IsSubsetOf(n.cpus.GetAllocatableCPUs()) {
			panic("kubelet gave a CPU twice, or a reserved one")
		}
		taken = taken.Union(own)
	}
}

func fingerprint(text string) string {
	hash := fnv.New32a()
	hash.Write([]byte(text))
	return fmt.Sprintf("%08x", hash.Sum32())
}

func hintsText(all map[string][]topologymanager.TopologyHint) string {
	var names []string
	for name := range all {
		names = append(names, name)
	}
	sort.Strings(names)
	var out strings.Builder
	for _, name := range names {
		out.WriteString(name + ":")
		for _, hint := range all[name] {
			fmt.Fprintf(&out, "%v%v;", hint.NUMANodeAffinity.GetBits(), hint.Preferred)
		}
	}
	return out.String()
}

func (n *node) hints(object *v1.Pod) string {
	var out []string
	for _, c := range append(slices.Clone(object.Spec.InitContainers), object.Spec.Containers...) {
		out = append(out, hintsText(n.cpus.GetTopologyHints(object, &c)), hintsText(n.memory.GetTopologyHints(object, &c)))
	}
	out = append(out, hintsText(n.cpus.GetPodTopologyHints(object)), hintsText(n.memory.GetPodTopologyHints(object)))
	return fingerprint(strings.Join(out, "|"))
}

func blocksText(blocks []state.Block) string {
	var parts []string
	for _, b := range blocks {
		parts = append(parts, fmt.Sprintf("%s=%d@%v", b.Type, b.Size, b.NUMAAffinity))
	}
	sort.Strings(parts)
	return strings.Join(parts, ";")
}

func (n *node) given(object *v1.Pod) []string {
	var out []string
	for _, c := range append(slices.Clone(object.Spec.InitContainers), object.Spec.Containers...) {
		cpus := n.cpus.GetExclusiveCPUs(string(object.UID), c.Name)
		out = append(out, cpus.String()+"|"+blocksText(n.memory.GetMemory(string(object.UID), c.Name)))
	}
	return out
}

func (n *node) after() string {
	text := n.cpus.State().GetDefaultCPUSet().String()
	nodes := n.memory.State().GetMachineState()
	var ids []int
	for id := range nodes {
		ids = append(ids, id)
	}
	sort.Ints(ids)
	for _, id := range ids {
		text += fmt.Sprintf("/%d:%d%v", id, nodes[id].NumberOfAssignments, nodes[id].Cells)
		var names []string
		for name := range nodes[id].MemoryMap {
			names = append(names, string(name))
		}
		sort.Strings(names)
		for _, name := range names {
			t := nodes[id].MemoryMap[v1.ResourceName(name)]
			// Which node of a group gave what means nothing (areMachineStatesEqual): a pod that was refused halfway leaves it another way.
			reserved, free := uint64(0), uint64(0)
			for _, cell := range nodes[id].Cells {
				reserved += nodes[cell].MemoryMap[v1.ResourceName(name)].Reserved
				free += nodes[cell].MemoryMap[v1.ResourceName(name)].Free
			}
			text += fmt.Sprintf(" %s %d %d %d %d %d", name, t.TotalMemSize, t.SystemReserved, t.Allocatable, reserved, free)
		}
	}
	return fingerprint(text)
}
