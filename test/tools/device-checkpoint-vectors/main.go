// Records what kubelet's own code writes into kubelet_internal_checkpoint, for test/pure/devices/checkpoint.test.ts. To make the
// record again (after a new Kubernetes release):
//
//	cd test/tools && go run ./device-checkpoint-vectors > ../pure/devices/checkpoint-vectors.json
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"

	"google.golang.org/protobuf/proto"
	pluginapi "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
	"k8s.io/kubernetes/pkg/kubelet/cm/devicemanager/checkpoint"
)

type vector struct {
	Entries    []checkpoint.PodDevicesEntry `json:"entries"`
	Registered map[string][]string          `json:"registered"`
	Text       string                       `json:"text"`
}

func main() {
	from := rand.New(rand.NewSource(35))
	vectors := []vector{record(nil, map[string][]string{})}
	for range 30 {
		vectors = append(vectors, record(entries(from), registered(from)))
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(vectors); err != nil {
		panic(err)
	}
}

func record(entries []checkpoint.PodDevicesEntry, registered map[string][]string) vector {
	text, err := checkpoint.New(entries, registered).MarshalCheckpoint()
	if err != nil {
		panic(err)
	}
	return vector{entries, registered, string(text)}
}

func entries(from *rand.Rand) []checkpoint.PodDevicesEntry {
	var all []checkpoint.PodDevicesEntry
	for pod := range from.Intn(4) {
		for container := range 1 + from.Intn(2) {
			ids := checkpoint.NewDevicesPerNUMA()
			for range 1 + from.Intn(3) {
				node := int64(from.Intn(12) - 1)
				ids[node] = append(ids[node], fmt.Sprintf("GPU-%d<é&", from.Intn(1000)))
			}
			response := &pluginapi.ContainerAllocateResponse{
				Envs:    map[string]string{"VISIBLE": fmt.Sprint(from.Intn(10))},
				Devices: []*pluginapi.DeviceSpec{{ContainerPath: "/dev/a", HostPath: "/dev/b", Permissions: "rw"}},
			}
			bytes, err := proto.Marshal(response)
			if err != nil {
				panic(err)
			}
			all = append(all, checkpoint.PodDevicesEntry{
				PodUID:        fmt.Sprintf("uid-%d", pod),
				ContainerName: fmt.Sprintf("c%d", container),
				ResourceName:  "example.com/gpu",
				DeviceIDs:     ids,
				AllocResp:     bytes,
			})
		}
	}
	return all
}

func registered(from *rand.Rand) map[string][]string {
	all := map[string][]string{}
	for _, name := range []string{"example.com/gpu", "a.example/nic", "z.io/x"} {
		if from.Intn(2) == 0 {
			continue
		}
		all[name] = []string{}
		for i := range from.Intn(4) {
			all[name] = append(all[name], fmt.Sprintf("%s-%d", name, i))
		}
	}
	return all
}
