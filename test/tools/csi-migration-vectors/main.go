// Records what k8s.io/csi-translation-lib makes of in-tree volumes of clouds, inline and as PersistentVolumes, for
// test/pure/csi/migration.test.ts. To make the record again (after a new Kubernetes release):
//
//	cd test/tools && go run ./csi-migration-vectors > ../pure/csi/migration-vectors.json
package main

import (
	"encoding/json"
	"math/rand"
	"os"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	translation "k8s.io/csi-translation-lib"
	"k8s.io/klog/v2"
)

type vector struct {
	Volume    *v1.Volume           `json:"volume,omitempty"`
	Namespace string               `json:"namespace,omitempty"`
	PV        *v1.PersistentVolume `json:"pv,omitempty"`
	CSI       *v1.PersistentVolume `json:"csi,omitempty"`
	Error     string               `json:"error,omitempty"`
}

var from = rand.New(rand.NewSource(35))

func one[T any](of ...T) T { return of[from.Intn(len(of))] }

func maybe[T any](value T) *T {
	if from.Intn(2) == 0 {
		return nil
	}
	return &value
}

func some() bool { return from.Intn(2) == 0 }

func fsType() string { return one("", "ext4", "xfs") }

func ebs() *v1.AWSElasticBlockStoreVolumeSource {
	ids := []string{"vol-1", "vol-02399794d890f9375", "aws://us-east-1a/vol-2", "aws:///vol-3", "aws://vol-4", "aws://zone/disk-5",
		"aws://zone/a/vol-6", "aws://zone/vol-7/", "aws://zone/", "aws://zone/vol-8?x=1#y", "aws://zone/vol%2D9", "aws://zo%ne/vol-1", "gce://x/vol-1", "", "aws:vol-1",
		"aws://a b/vol-1", "aws://u@zone:80/vol-10", "aws://zone:x/vol-11", "aws://zone/vol- 12", "aws://[::1/vol-13", "aws://zone/vol-\x01"}
	return &v1.AWSElasticBlockStoreVolumeSource{VolumeID: one(ids...), FSType: fsType(), Partition: one[int32](0, 1, 13), ReadOnly: some()}
}

func gce() *v1.GCEPersistentDiskVolumeSource {
	return &v1.GCEPersistentDiskVolumeSource{PDName: one("disk", "disk-2"), FSType: fsType(), Partition: one[int32](0, 2), ReadOnly: some()}
}

func azureDisk() *v1.AzureDiskVolumeSource {
	uri := one("/subscriptions/a/resourceGroups/b/providers/Microsoft.Compute/disks/c", "http://x/vhds/y.vhd")
	kind := one(v1.AzureManagedDisk, v1.AzureDedicatedBlobDisk, v1.AzureSharedBlobDisk, "managed", "")
	caching := one(v1.AzureDataDiskCachingNone, v1.AzureDataDiskCachingReadOnly, "")
	return &v1.AzureDiskVolumeSource{DiskName: "c", DataDiskURI: uri, Kind: maybe(kind), CachingMode: maybe(caching), FSType: maybe(fsType()), ReadOnly: maybe(some())}
}

func secretName() string {
	return one("azure-storage-account-acc-secret", "azure-storage-account--secret", "mine", "x-azure-storage-account-a-b-secret-y", "azure-storage-account-a-secret-secret", "azure-storage-account-a\n-secret")
}

func zones() string {
	return one("us-a-1", "us-a-1__us-a-2", "us-a-1__eu-b-2", "zone", "zone__other", "", "a__", " us-a-1 __ us-a-1")
}

// labels and affinity of a PV that in-tree plugins or their admission have made.
func places(pv *v1.PersistentVolume) {
	zone, region := one(v1.LabelTopologyZone, v1.LabelFailureDomainBetaZone), one(v1.LabelTopologyRegion, v1.LabelFailureDomainBetaRegion)
	if some() {
		pv.Labels = map[string]string{zone: zones()}
		if some() {
			pv.Labels[region] = one("us-a", "")
		}
		if from.Intn(4) == 0 {
			pv.Labels[v1.LabelTopologyZone] = "us-a-3"
		}
	}
	if some() {
		return
	}
	terms := []v1.NodeSelectorTerm{}
	for range from.Intn(3) {
		term := v1.NodeSelectorTerm{}
		for range from.Intn(3) {
			key := one(zone, region, "kubernetes.io/hostname", one(v1.LabelTopologyZone, v1.LabelFailureDomainBetaZone))
			term.MatchExpressions = append(term.MatchExpressions, v1.NodeSelectorRequirement{Key: key, Operator: one(v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn), Values: []string{one("us-a-1", "us-a-2"), "us-a-3"}[:1+from.Intn(2)]})
		}
		terms = append(terms, term)
	}
	pv.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: one(&v1.NodeSelector{NodeSelectorTerms: terms}, &v1.NodeSelector{NodeSelectorTerms: terms}, nil)}
}

func inline(kind int) vector {
	volume := &v1.Volume{Name: "v"}
	switch kind {
	case 0:
		volume.AWSElasticBlockStore = ebs()
	case 1:
		volume.GCEPersistentDisk = gce()
	case 2:
		volume.AzureDisk = azureDisk()
	case 3:
		volume.AzureFile = &v1.AzureFileVolumeSource{SecretName: secretName(), ShareName: "share", ReadOnly: some()}
	case 4:
		volume.Cinder = &v1.CinderVolumeSource{VolumeID: "id", FSType: fsType(), ReadOnly: some()}
	case 5:
		// With a storage policy the library dereferences a source that is not there.
		volume.VsphereVolume = &v1.VsphereVirtualDiskVolumeSource{VolumePath: "[store] volumes/x.vmdk", FSType: fsType()}
	case 6:
		volume.PortworxVolume = &v1.PortworxVolumeSource{VolumeID: "px", FSType: fsType(), ReadOnly: some()}
	}
	made := vector{Volume: volume, Namespace: one("ns", "")}
	pv, err := translation.New().TranslateInTreeInlineVolumeToCSI(klog.Background(), volume, made.Namespace)
	return ended(made, pv, err)
}

func persistent(kind int) vector {
	pv := &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv"}}
	modes := []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce, v1.ReadOnlyMany, v1.ReadWriteMany, v1.ReadWriteOncePod}
	for _, mode := range modes {
		if from.Intn(3) == 0 {
			pv.Spec.AccessModes = append(pv.Spec.AccessModes, mode)
		}
	}
	places(pv)
	switch kind {
	case 0:
		pv.Spec.AWSElasticBlockStore = ebs()
	case 1:
		pv.Spec.GCEPersistentDisk = gce()
	case 2:
		pv.Spec.AzureDisk = azureDisk()
	case 3:
		pv.Spec.AzureFile = &v1.AzureFilePersistentVolumeSource{SecretName: secretName(), ShareName: "share", ReadOnly: some(), SecretNamespace: maybe(one("other", ""))}
		if some() {
			pv.Spec.ClaimRef = &v1.ObjectReference{Namespace: one("ns", "")}
		}
		if some() {
			pv.Annotations = map[string]string{"kubernetes.io/azure-file-resource-group": one("group", "")}
		}
	case 4:
		pv.Spec.Cinder = &v1.CinderPersistentVolumeSource{VolumeID: "id", FSType: fsType(), ReadOnly: some(), SecretRef: maybe(v1.SecretReference{Name: "s"})}
	case 5:
		pv.Spec.VsphereVolume = &v1.VsphereVirtualDiskVolumeSource{VolumePath: "[store] volumes/x.vmdk", FSType: fsType(), StoragePolicyName: one("", "policy")}
	case 6:
		pv.Spec.PortworxVolume = &v1.PortworxVolumeSource{VolumeID: "px", FSType: fsType(), ReadOnly: some()}
		pv.Annotations = map[string]string{}
		if some() {
			pv.Annotations["openstorage.io/auth-secret-name"] = one("s", "")
		}
		if some() {
			pv.Annotations["openstorage.io/auth-secret-namespace"] = "ns"
		}
	}
	made, err := translation.New().TranslateInTreePVToCSI(klog.Background(), pv)
	return ended(vector{PV: pv}, made, err)
}

func ended(made vector, pv *v1.PersistentVolume, err error) vector {
	if err != nil {
		made.Error = err.Error()
	} else {
		made.CSI = pv
	}
	return made
}

func main() {
	vectors := []vector{}
	for kind := range 7 {
		for range 40 {
			vectors = append(vectors, inline(kind), persistent(kind), persistent(kind))
		}
	}
	seen := map[string]bool{}
	out := []json.RawMessage{}
	for _, each := range vectors {
		text, err := json.Marshal(each)
		if err != nil {
			panic(err)
		}
		if !seen[string(text)] {
			seen[string(text)] = true
			out = append(out, text)
		}
	}
	for at, text := range out {
		os.Stdout.WriteString(map[bool]string{true: "[\n", false: ",\n"}[at == 0])
		os.Stdout.Write(text)
	}
	os.Stdout.WriteString("\n]\n")
}
