// Records which UIDs kubelet's own code gives to static pods, for test/pure/sources/kubelet-uids.test.ts. To make the record again
// (after a new Kubernetes release):
//
//	cd test/tools && go run ./static-pod-uid-vectors > ../pure/sources/kubelet-uid-vectors.json
//
// With the argument "text" it prints what kubelet hashes of the manifest on its standard input.
package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/dump"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"k8s.io/kubernetes/pkg/capabilities"
	"k8s.io/kubernetes/pkg/kubelet/config"
	kubetypes "k8s.io/kubernetes/pkg/kubelet/types"
	"k8s.io/kubernetes/pkg/util/hash"
)

const node = "node-a.example"

// vector is a manifest and the UID that kubelet gives to its pod.
type vector struct {
	What     string `json:"what"`
	Manifest string `json:"manifest"`
	// File or URL it is read from.
	File string `json:"file,omitempty"`
	URL  string `json:"url,omitempty"`
	UID  string `json:"uid"`
	// Pod is what kubelet's source hands on; without it kubelet finds the pod invalid, and the UID is that of the steps before.
	Pod *handedOn `json:"pod,omitempty"`
}

// handedOn is what the source sets besides the UID.
type handedOn struct {
	Name        string            `json:"name"`
	Namespace   string            `json:"namespace"`
	Annotations map[string]string `json:"annotations"`
	Tolerations []v1.Toleration   `json:"tolerations,omitempty"`
	NodeName    string            `json:"nodeName"`
	Phase       string            `json:"phase"`
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "text" {
		manifest, err := io.ReadAll(os.Stdin)
		must(err)
		fmt.Println(dump.ForHash(decode(string(manifest))))
		return
	}
	// As kubelet does (initForOS of cmd/kubelet).
	capabilities.Initialize(capabilities.Capabilities{AllowPrivileged: true})
	var out []vector
	var invalid []string
	for i, m := range manifests() {
		v := vector{What: m.what, Manifest: m.text, File: fmt.Sprintf("/etc/kubernetes/manifests/%d.yaml", i)}
		if m.file != "" {
			v.File = m.file
		}
		if m.url {
			v.File, v.URL = "", fmt.Sprintf("http://manifests.example:8080/%d?a=b", i)
		}
		v.UID = uid(decode(m.text), v)
		if given := handOn(m); given != nil {
			v.Pod = given.pod
			// What the source itself says of the same text in another place: the steps of uid are kubelet's.
			if want := uid(decode(m.text), vector{File: given.file, URL: given.url}); given.uid != want {
				panic(fmt.Sprintf("%s: kubelet's source says %s, its steps %s", m.what, given.uid, want))
			}
		} else if m.valid {
			invalid = append(invalid, m.what)
		}
		out = append(out, v)
	}
	if len(invalid) > 0 {
		panic("not valid: " + strings.Join(invalid, ", "))
	}
	fmt.Println("[")
	for i, v := range out {
		var line bytes.Buffer
		encoder := json.NewEncoder(&line)
		encoder.SetEscapeHTML(false)
		must(encoder.Encode(v))
		comma := ","
		if i == len(out)-1 {
			comma = ""
		}
		fmt.Printf("  %s%s\n", strings.TrimSpace(line.String()), comma)
	}
	fmt.Println("]")
}

// decode does what kubelet does with the text of a manifest (tryDecodeSinglePod).
func decode(text string) *core.Pod {
	data, err := utilyaml.ToJSON([]byte(text))
	must(err)
	object, err := runtime.Decode(legacyscheme.Codecs.UniversalDecoder(), data)
	if err != nil {
		panic(fmt.Sprintf("%v: %s", err, data))
	}
	if list, ok := object.(*core.PodList); ok {
		return &list.Items[0]
	}
	return object.(*core.Pod)
}

// uid does what kubelet does with a decoded pod (applyDefaults).
func uid(pod *core.Pod, v vector) string {
	if pod.UID != "" {
		return string(pod.UID)
	}
	hasher := fnv.New128a()
	hash.DeepHashObject(hasher, pod)
	if v.File != "" {
		fmt.Fprintf(hasher, "host:%s", node)
		fmt.Fprintf(hasher, "file:%s", v.File)
	} else {
		fmt.Fprintf(hasher, "url:%s", v.URL)
	}
	return hex.EncodeToString(hasher.Sum(nil)[0:])
}

type given struct {
	uid, file, url string
	pod            *handedOn
}

// handOn asks kubelet's sources; nil when they find the manifest invalid.
func handOn(m manifest) *given {
	logger := klog.Logger{}
	if m.valid {
		// Says what is wrong.
		logger = klog.Background()
	}
	updates := make(chan any, 10)
	out := &given{}
	if m.url {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(m.text)) }))
		defer server.Close()
		out.url = server.URL + "/pod"
		config.NewSourceURL(logger, out.url, nil, types.NodeName(node), time.Hour, updates)
	} else {
		folder, err := os.MkdirTemp("", "static-pod-uid-vectors")
		must(err)
		defer os.RemoveAll(folder)
		out.file = filepath.Join(folder, "pod.yaml")
		must(os.WriteFile(out.file, []byte(m.text), 0o600))
		config.NewSourceFile(logger, folder, types.NodeName(node), time.Hour, updates)
	}
	var update any
	select {
	case update = <-updates:
	case <-time.After(2 * time.Second):
		return nil
	}
	pods := update.(kubetypes.PodUpdate).Pods
	if len(pods) == 0 {
		return nil
	}
	pod := pods[0]
	out.uid = string(pod.UID)
	annotations := map[string]string{}
	for key, value := range pod.Annotations {
		if key != kubetypes.ConfigHashAnnotationKey {
			annotations[key] = value
		} else if value != out.uid {
			panic("the hash annotation is not the UID")
		}
	}
	out.pod = &handedOn{
		Name: pod.Name, Namespace: pod.Namespace, Annotations: annotations, Tolerations: pod.Spec.Tolerations, NodeName: pod.Spec.NodeName,
		Phase: string(pod.Status.Phase),
	}
	return out
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
