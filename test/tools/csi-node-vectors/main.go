// Records what kubelet's own code makes of CSI drivers that register and leave: which version it takes, and what then stands in the node's
// object and its CSINode, for test/pure/csi/node-drivers.test.ts. To make the record again (after a new Kubernetes release):
//
//	cd test/tools && go run ./csi-node-vectors > ../pure/csi/node-vectors.json
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/kubernetes/pkg/volume"
	"k8s.io/kubernetes/pkg/volume/csi/nodeinfomanager"
)

type versions struct {
	Given []string `json:"given"`
	Taken string   `json:"taken,omitempty"`
	Error string   `json:"error,omitempty"`
}

type objects struct {
	Labels      map[string]string         `json:"labels,omitempty"`
	Annotations map[string]string         `json:"annotations,omitempty"`
	Drivers     []storagev1.CSINodeDriver `json:"drivers"`
}

type change struct {
	Before   objects           `json:"before"`
	Name     string            `json:"name"`
	NodeID   string            `json:"nodeID,omitempty"`
	Max      int64             `json:"max"`
	Topology map[string]string `json:"topology,omitempty"`
	Leaves   bool              `json:"leaves"`
	After    objects           `json:"after"`
	Error    string            `json:"error,omitempty"`
}

type host struct {
	volume.VolumeHost
	client clientset.Interface
}

func (h *host) GetKubeClient() clientset.Interface { return h.client }

const node = "node1"

var names = []string{"a.example.com", "b.example.com", "c.example.com"}

func main() {
	from := rand.New(rand.NewSource(35))
	record := struct {
		Versions []versions `json:"versions"`
		Changes  []change   `json:"changes"`
	}{}
	parts := []string{"1.0.0", "1.2", "v1.5.0", "0.3.0", "2.0.0", "1.10.0", "1", "01.2", "x", "", "1.2.3-rc1", " 1.3 ", "1.02", "1.2.0.0"}
	for range 80 {
		given := []string{}
		for range 1 + from.Intn(3) {
			given = append(given, parts[from.Intn(len(parts))])
		}
		taken, err := version.HighestSupportedVersion(given)
		if err != nil {
			record.Versions = append(record.Versions, versions{Given: given, Error: err.Error()})
		} else {
			record.Versions = append(record.Versions, versions{Given: given, Taken: taken.String()})
		}
	}
	for range 80 {
		record.Changes = append(record.Changes, drawn(from))
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(record); err != nil {
		panic(err)
	}
}

func drawn(from *rand.Rand) change {
	before := objects{Labels: map[string]string{}, Annotations: map[string]string{}, Drivers: []storagev1.CSINodeDriver{}}
	ids := map[string]string{}
	for _, name := range names {
		if from.Intn(2) == 0 {
			continue
		}
		driver := storagev1.CSINodeDriver{Name: name, NodeID: fmt.Sprint("n", from.Intn(2)), TopologyKeys: []string{}}
		if from.Intn(2) == 0 {
			driver.TopologyKeys = []string{"rack", "zone"}
		}
		if count := int32(from.Intn(3)); count > 0 {
			driver.Allocatable = &storagev1.VolumeNodeResources{Count: &count}
		}
		before.Drivers = append(before.Drivers, driver)
		ids[name] = driver.NodeID
	}
	if len(ids) > 0 && from.Intn(4) > 0 {
		text, _ := json.Marshal(ids)
		before.Annotations["csi.volume.kubernetes.io/nodeid"] = string(text)
	}
	if from.Intn(2) == 0 {
		before.Labels["zone"] = fmt.Sprint("z", from.Intn(3))
	}
	result := change{Before: before, Name: names[from.Intn(len(names))], Leaves: from.Intn(3) == 0}
	if !result.Leaves {
		result.NodeID = fmt.Sprint("n", from.Intn(2))
		result.Max = []int64{0, 1, 2, 1 << 40}[from.Intn(4)]
		result.Topology = []map[string]string{{}, {"zone": "z0", "rack": "r"}, {"zone": "z1"}}[from.Intn(3)]
	}
	return made(result)
}

func made(its change) change {
	object := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: node, Labels: its.Before.Labels, Annotations: its.Before.Annotations}}
	csiNode := &storagev1.CSINode{
		ObjectMeta: metav1.ObjectMeta{Name: node, OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node}}},
		Spec:       storagev1.CSINodeSpec{Drivers: its.Before.Drivers},
	}
	client := fake.NewSimpleClientset(object, csiNode)
	manager := nodeinfomanager.NewNodeInfoManager(types.NodeName(node), &host{client: client}, nil)
	var err error
	if its.Leaves {
		err = manager.UninstallCSIDriver(its.Name)
	} else {
		err = manager.InstallCSIDriver(its.Name, its.NodeID, its.Max, its.Topology)
	}
	if err != nil {
		its.Error = err.Error()
	}
	after, _ := client.CoreV1().Nodes().Get(context.TODO(), node, metav1.GetOptions{})
	listed, _ := client.StorageV1().CSINodes().Get(context.TODO(), node, metav1.GetOptions{})
	its.After = objects{Labels: after.Labels, Annotations: after.Annotations, Drivers: listed.Spec.Drivers}
	return its
}
