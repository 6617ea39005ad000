package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubeadmapi "k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm"
	"k8s.io/kubernetes/cmd/kubeadm/app/phases/controlplane"
	"k8s.io/kubernetes/cmd/kubeadm/app/phases/etcd"
	kubeadmconfig "k8s.io/kubernetes/cmd/kubeadm/app/util/config"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	apitesting "k8s.io/kubernetes/pkg/api/testing"
	"k8s.io/kubernetes/pkg/apis/core"
)

type manifest struct {
	what, text string
	file       string
	url        bool
	// Must kubelet accept it?
	valid bool
}

func manifests() []manifest {
	out := append(kubeadmManifests(), written()...)
	out = append(out, quantities()...)
	draw := rand.New(rand.NewSource(1354))
	out = append(out, manifest{what: "every field", text: everyField(draw)})
	for i := range 110 {
		out = append(out, manifest{what: fmt.Sprintf("drawn %d", i), text: drawn(draw), url: i%7 == 3})
	}
	for i := range 40 {
		out = append(out, manifest{what: fmt.Sprintf("of the fuzzer of Kubernetes %d", i), text: ofFuzzer(int64(i))})
	}
	return out
}

// kubeadmManifests are the four of a control plane as `kubeadm init` writes them.
func kubeadmManifests() []manifest {
	folder, err := os.MkdirTemp("", "static-pod-uid-vectors")
	must(err)
	defer os.RemoveAll(folder)
	init, err := kubeadmconfig.DefaultedStaticInitConfiguration()
	must(err)
	kubeadmapi.SetDefaultTimeouts(&init.Timeouts)
	kubeadmapi.SetActiveTimeouts(init.Timeouts)
	cluster := &init.ClusterConfiguration
	cluster.KubernetesVersion = "v1.35.4"
	endpoint := &kubeadmapi.APIEndpoint{AdvertiseAddress: "10.0.0.10", BindPort: 6443}
	names := []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler"}
	must(controlplane.CreateStaticPodFiles(folder, "", cluster, endpoint, false, names...))
	must(etcd.CreateLocalEtcdStaticPodManifestFile(folder, "", node, cluster, endpoint, false))
	var out []manifest
	for _, name := range append(names, "etcd") {
		text, err := os.ReadFile(filepath.Join(folder, name+".yaml"))
		must(err)
		out = append(out, manifest{what: "kubeadm's " + name, text: string(text), file: "/etc/kubernetes/manifests/" + name + ".yaml", valid: true})
	}
	return out
}

// ofFuzzer is what the fuzzer that Kubernetes tests its conversions with draws, as v1 JSON and without times.
func ofFuzzer(seed int64) string {
	fill := fuzzer.FuzzerFor(apitesting.FuzzerFuncs, rand.NewSource(seed), legacyscheme.Codecs)
	pod := &core.Pod{}
	fill.Fill(pod)
	pod.Name, pod.UID = "fuzzed", ""
	var outer v1.Pod
	must(legacyscheme.Scheme.Convert(pod, &outer, nil))
	withoutTimes(&outer)
	text, err := runtime.Encode(legacyscheme.Codecs.LegacyCodec(v1.SchemeGroupVersion), &outer)
	must(err)
	var fields map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	must(decoder.Decode(&fields))
	text, err = json.Marshal(exact(fields))
	must(err)
	return string(text)
}

// exact leaves nothing of numbers that JavaScript cannot hold.
func exact(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			value[key] = exact(inner)
		}
	case []any:
		for i, inner := range value {
			value[i] = exact(inner)
		}
	case json.Number:
		if number, err := value.Int64(); err == nil {
			return number % (1 << 53)
		}
	}
	return value
}

func withoutTimes(pod *v1.Pod) {
	pod.CreationTimestamp, pod.DeletionTimestamp, pod.ManagedFields = metav1.Time{}, nil, nil
	pod.Status.StartTime, pod.Status.Conditions = nil, nil
	for _, statuses := range [][]v1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses, pod.Status.EphemeralContainerStatuses} {
		for i := range statuses {
			statuses[i].State, statuses[i].LastTerminationState = v1.ContainerState{}, v1.ContainerState{}
		}
	}
	for i := range pod.Spec.Volumes {
		if e := pod.Spec.Volumes[i].Ephemeral; e != nil && e.VolumeClaimTemplate != nil {
			e.VolumeClaimTemplate.CreationTimestamp, e.VolumeClaimTemplate.DeletionTimestamp, e.VolumeClaimTemplate.ManagedFields = metav1.Time{}, nil, nil
		}
	}
}
