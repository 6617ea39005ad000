// Records what kubelet's own device manager (pkg/kubelet/cm/devicemanager) says of drawn devices on drawn NUMA nodes: the hints for the
// topology manager, what it asks the plugin, and which devices it gives; for test/pure/devices/kubelet-vectors.test.ts. It wants a folder
// of its own at /var/lib/kubelet/device-plugins, so it is run in a mount namespace. To make the record again (after a new Kubernetes release):
//
//	cd test/tools && go build -o /tmp/device-hint-vectors ./device-hint-vectors
//	unshare -m sh -c 'mkdir -p /var/lib/kubelet && mount -t tmpfs none /var/lib/kubelet && mkdir /var/lib/kubelet/device-plugins &&
//	  exec /tmp/device-hint-vectors 2000' | gzip -9n > ../pure/devices/kubelet-vectors.jsonl.gz
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"os"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"unsafe"

	"github.com/go-logr/logr"
	cadvisorapi "github.com/google/cadvisor/info/v1"
	"google.golang.org/grpc"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	pluginapi "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
	"k8s.io/kubernetes/pkg/kubelet/cm/devicemanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager/bitmask"
)

const name = "example.com/gpu"

// device: its id is its place among the devices, as d00.
type device struct {
	Nodes []int `json:"nodes,omitempty"`
	Sick  bool  `json:"sick,omitempty"`
}

type container struct {
	Init  bool `json:"init,omitempty"`
	Count int  `json:"count"`
	// Hints: nodes as a mask, with ! when preferred; nil: it does not matter.
	Hints []string `json:"hints"`
	// Affinity: the mask that the topology manager is made to say, 0 for none.
	Affinity int `json:"affinity"`
	// Asked: what the plugin was asked, as available|must include|how many.
	Asked []string `json:"asked,omitempty"`
	// Given: ids; Refused: why there are none.
	Given   []string `json:"given,omitempty"`
	Refused string   `json:"refused,omitempty"`
}

type pod struct {
	// Hints: of the pod as a whole, asked for its most.
	Hints      []string    `json:"hints"`
	Whole      int         `json:"whole"`
	Containers []container `json:"containers"`
	// Gone: pods that are gone before it comes, from 0.
	Gone []int `json:"gone,omitempty"`
}

type drawnCase struct {
	Nodes   []int    `json:"nodes"`
	Prefers bool     `json:"prefers,omitempty"`
	Devices []device `json:"devices"`
	Pods    []pod    `json:"pods"`
}

// said is the topology manager: what it was made to say last.
type said struct{ mask bitmask.BitMask }

func (s *said) GetAffinity(string, string) topologymanager.TopologyHint {
	return topologymanager.TopologyHint{NUMANodeAffinity: s.mask}
}
func (s *said) GetPolicy() topologymanager.Policy { return topologymanager.NewNonePolicy() }

// fake is a plugin that answers at once: it likes devices in the order of their ids, the last one first.
type fake struct {
	prefers bool
	asked   []string
}

func (f *fake) API() pluginapi.DevicePluginClient { return f }
func (f *fake) Resource() string                  { return name }
func (f *fake) SocketPath() string                { return "none" }
func (f *fake) GetDevicePluginOptions(context.Context, *pluginapi.Empty, ...grpc.CallOption) (*pluginapi.DevicePluginOptions, error) {
	return &pluginapi.DevicePluginOptions{GetPreferredAllocationAvailable: f.prefers}, nil
}
func (f *fake) ListAndWatch(context.Context, *pluginapi.Empty, ...grpc.CallOption) (grpc.ServerStreamingClient[pluginapi.ListAndWatchResponse], error) {
	panic("not asked")
}
func (f *fake) PreStartContainer(context.Context, *pluginapi.PreStartContainerRequest, ...grpc.CallOption) (*pluginapi.PreStartContainerResponse, error) {
	panic("not asked")
}
func (f *fake) Allocate(context.Context, *pluginapi.AllocateRequest, ...grpc.CallOption) (*pluginapi.AllocateResponse, error) {
	return &pluginapi.AllocateResponse{ContainerResponses: []*pluginapi.ContainerAllocateResponse{{}}}, nil
}
func (f *fake) GetPreferredAllocation(_ context.Context, in *pluginapi.PreferredAllocationRequest, _ ...grpc.CallOption) (*pluginapi.PreferredAllocationResponse, error) {
	one := in.ContainerRequests[0]
	available, must := sorted(one.AvailableDeviceIDs), sorted(one.MustIncludeDeviceIDs)
	f.asked = append(f.asked, fmt.Sprintf("%s|%s|%d", strings.Join(available, ","), strings.Join(must, ","), one.AllocationSize))
	liked := must
	for i := len(available) - 1; i >= 0 && len(liked) < int(one.AllocationSize); i-- {
		if !contains(liked, available[i]) {
			liked = append(liked, available[i])
		}
	}
	return &pluginapi.PreferredAllocationResponse{ContainerResponses: []*pluginapi.ContainerPreferredAllocationResponse{{DeviceIDs: liked}}}, nil
}

func main() {
	klog.SetLogger(logr.Discard())
	klog.SetOutput(io.Discard)
	wanted := 2000
	if len(os.Args) > 1 {
		wanted, _ = strconv.Atoi(os.Args[1])
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for seed := int64(1); seed <= int64(wanted); seed++ {
		line, err := json.Marshal(record(rand.New(rand.NewSource(seed))))
		must(err)
		fmt.Fprintln(out, string(line))
	}
}

func record(from *rand.Rand) drawnCase {
	drawn := draw(from)
	var topology []cadvisorapi.Node
	for _, id := range drawn.Nodes {
		topology = append(topology, cadvisorapi.Node{Id: id})
	}
	store := &said{}
	manager, err := devicemanager.NewManagerImpl(topology, store)
	must(err)
	var alive []*v1.Pod
	setActive(manager, func() []*v1.Pod { return alive })
	plugin := &fake{prefers: drawn.Prefers}
	must(manager.PluginConnected(context.Background(), name, plugin))
	manager.PluginListAndWatchReceiver(klog.Background(), name, told(drawn.Devices))
	all := make([]*v1.Pod, len(drawn.Pods))
	for i := range drawn.Pods {
		it := &drawn.Pods[i]
		for _, gone := range it.Gone {
			alive = without(alive, all[gone])
		}
		all[i] = made(i, it.Containers)
		alive = append(alive, all[i])
		manager.UpdateAllocatedDevices()
		it.Hints = texts(manager.GetPodTopologyHints(all[i])[name])
		it.Whole = whole(it.Containers)
		give(from, manager, store, plugin, all[i], it)
	}
	return drawn
}

// give asks for the containers in the order of their start, until one is refused.
func give(from *rand.Rand, manager *devicemanager.ManagerImpl, store *said, plugin *fake, p *v1.Pod, it *pod) {
	each := append(append([]v1.Container{}, p.Spec.InitContainers...), p.Spec.Containers...)
	for c := range it.Containers {
		one := &it.Containers[c]
		hints := manager.GetTopologyHints(p, &each[c])[name]
		one.Hints = texts(hints)
		store.mask = nil
		if len(hints) > 0 && from.Intn(5) > 0 {
			store.mask = hints[from.Intn(len(hints))].NUMANodeAffinity
			for _, bit := range store.mask.GetBits() {
				one.Affinity |= 1 << bit
			}
		}
		plugin.asked = nil
		err := manager.Allocate(p, &each[c])
		one.Asked = plugin.asked
		if err != nil {
			one.Refused = err.Error()
			it.Containers = it.Containers[:c+1]
			return
		}
		for id := range manager.GetDevices(string(p.UID), each[c].Name)[name] {
			one.Given = append(one.Given, id)
		}
		sort.Strings(one.Given)
	}
}

func draw(from *rand.Rand) drawnCase {
	drawn := drawnCase{Prefers: from.Intn(4) > 0}
	for id, n := 0, 1+from.Intn(8); len(drawn.Nodes) < n; id++ {
		if from.Intn(10) > 0 {
			drawn.Nodes = append(drawn.Nodes, id)
		}
	}
	nowhere := from.Intn(8) == 0
	for range 1 + from.Intn(14) {
		one := device{Sick: from.Intn(8) == 0}
		for range from.Intn(4) {
			node := drawn.Nodes[from.Intn(len(drawn.Nodes))]
			if !nowhere && from.Intn(3) > 0 && !containsInt(one.Nodes, node) {
				one.Nodes = append(one.Nodes, node)
			}
		}
		sort.Ints(one.Nodes)
		drawn.Devices = append(drawn.Devices, one)
	}
	for i := range 1 + from.Intn(4) {
		it := pod{}
		for gone := range i {
			if from.Intn(4) == 0 {
				it.Gone = append(it.Gone, gone)
			}
		}
		inits := from.Intn(3)
		count := 1 + from.Intn(3)
		// What follows asks for as many at least: of devices that may be had again kubelet takes any.
		for range inits {
			it.Containers = append(it.Containers, container{Init: true, Count: count})
			count += from.Intn(2)
		}
		for range 1 + from.Intn(2) {
			it.Containers = append(it.Containers, container{Count: count + from.Intn(2)})
		}
		drawn.Pods = append(drawn.Pods, it)
	}
	return drawn
}

func made(number int, containers []container) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{UID: types.UID(fmt.Sprintf("p%d", number)), Name: fmt.Sprintf("p%d", number)}}
	for i, each := range containers {
		list := v1.ResourceList{name: *resource.NewQuantity(int64(each.Count), resource.DecimalSI)}
		one := v1.Container{Name: fmt.Sprintf("c%d", i), Resources: v1.ResourceRequirements{Limits: list, Requests: list}}
		if each.Init {
			p.Spec.InitContainers = append(p.Spec.InitContainers, one)
		} else {
			p.Spec.Containers = append(p.Spec.Containers, one)
		}
	}
	return p
}

// whole: what the pod asks for as a whole, as the scheduler counts.
func whole(containers []container) int {
	sum, most := 0, 0
	for _, each := range containers {
		if each.Init {
			most = max(most, each.Count)
		} else {
			sum += each.Count
		}
	}
	return max(sum, most)
}

func told(devices []device) *pluginapi.ListAndWatchResponse {
	list := &pluginapi.ListAndWatchResponse{}
	for i, each := range devices {
		one := &pluginapi.Device{ID: fmt.Sprintf("d%02d", i), Health: pluginapi.Healthy}
		if each.Sick {
			one.Health = pluginapi.Unhealthy
		}
		if len(each.Nodes) > 0 {
			one.Topology = &pluginapi.TopologyInfo{}
			for _, node := range each.Nodes {
				one.Topology.Nodes = append(one.Topology.Nodes, &pluginapi.NUMANode{ID: int64(node)})
			}
		}
		list.Devices = append(list.Devices, one)
	}
	return list
}

func texts(hints []topologymanager.TopologyHint) []string {
	if hints == nil {
		return nil
	}
	out := []string{}
	for _, hint := range hints {
		mask := 0
		for _, bit := range hint.NUMANodeAffinity.GetBits() {
			mask |= 1 << bit
		}
		text := strconv.Itoa(mask)
		if hint.Preferred {
			text += "!"
		}
		out = append(out, text)
	}
	return out
}

// setActive: the manager is told by Start who lives, which would listen at a socket, too.
func setActive(manager *devicemanager.ManagerImpl, active func() []*v1.Pod) {
	field := reflect.ValueOf(manager).Elem().FieldByName("activePods")
	settable := reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
	settable.Set(reflect.ValueOf(active).Convert(field.Type()))
}

func without(pods []*v1.Pod, gone *v1.Pod) []*v1.Pod {
	var left []*v1.Pod
	for _, each := range pods {
		if each != gone {
			left = append(left, each)
		}
	}
	return left
}

func sorted(list []string) []string {
	out := append([]string{}, list...)
	sort.Strings(out)
	return out
}

func contains(list []string, text string) bool {
	for _, each := range list {
		if each == text {
			return true
		}
	}
	return false
}

func containsInt(list []int, number int) bool {
	for _, each := range list {
		if each == number {
			return true
		}
	}
	return false
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
