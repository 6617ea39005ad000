// Records what kubelet's own code writes into dra_manager_state, for test/pure/claims/checkpoint.test.ts. To make the record again
// (after a new Kubernetes release):
//
//	cd test/tools && go run ./claim-checkpoint-vectors > ../pure/claims/checkpoint-vectors.json
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubernetes/pkg/kubelet/cm/dra/state"
)

type vector struct {
	Claims state.ClaimInfoStateList `json:"claims"`
	Text   string                   `json:"text"`
}

func main() {
	from := rand.New(rand.NewSource(35))
	vectors := []vector{record(nil), record(state.ClaimInfoStateList{})}
	for range 30 {
		list := state.ClaimInfoStateList{}
		for at := range from.Intn(4) {
			list = append(list, claim(from, at))
		}
		vectors = append(vectors, record(list))
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(vectors); err != nil {
		panic(err)
	}
}

func record(list state.ClaimInfoStateList) vector {
	checkpoint, err := state.NewCheckpoint(list)
	if err != nil {
		panic(err)
	}
	text, err := checkpoint.MarshalCheckpoint()
	if err != nil {
		panic(err)
	}
	return vector{list, string(text)}
}

func claim(from *rand.Rand, at int) state.ClaimInfoState {
	pods := sets.New[string]()
	for range from.Intn(3) {
		pods.Insert(fmt.Sprintf("pod-%d", from.Intn(100)))
	}
	drivers := map[string]state.DriverState{}
	for range from.Intn(3) {
		var devices []state.Device
		for range from.Intn(3) {
			devices = append(devices, device(from))
		}
		drivers[fmt.Sprintf("driver-%d.example.com", from.Intn(10))] = state.DriverState{Devices: devices}
	}
	return state.ClaimInfoState{
		ClaimUID:    types.UID(fmt.Sprintf("uid-%d", from.Intn(1000))),
		ClaimName:   fmt.Sprintf("claim-%d", at),
		Namespace:   "default",
		PodUIDs:     pods,
		DriverState: drivers,
	}
}

func device(from *rand.Rand) state.Device {
	of := state.Device{PoolName: "pool<é&>", DeviceName: fmt.Sprintf("dev-%d", from.Intn(10))}
	if from.Intn(2) == 0 {
		share := types.UID(fmt.Sprintf("share-%d", from.Intn(10)))
		of.ShareID = &share
	}
	for i := range from.Intn(3) {
		of.RequestNames = append(of.RequestNames, fmt.Sprintf("request-%d", i))
	}
	for i := range from.Intn(3) {
		of.CDIDeviceIDs = append(of.CDIDeviceIDs, fmt.Sprintf("example.com/gpu=\"%d\\\u2028", i))
	}
	return of
}
