// Makes kubelet-status-vectors.json from the kubelet's own code (v1.35.4); see ../container-config/kubelet-vectors.go for
// how to run it. It reaches unexported functions by linkname, so an empty empty.s must lie beside it.
//go:build ignore

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"time"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/kubernetes/pkg/kubelet"
	kc "k8s.io/kubernetes/pkg/kubelet/container"
)

//go:linkname convert k8s.io/kubernetes/pkg/kubelet.(*Kubelet).convertStatusToAPIStatus
func convert(kl *kubelet.Kubelet, pod *v1.Pod, podStatus *kc.PodStatus, old v1.PodStatus) *v1.PodStatus

//go:linkname add k8s.io/kubernetes/pkg/kubelet.(*ReasonCache).add
func add(c *kubelet.ReasonCache, uid types.UID, name string, reason error, message string)

func main() {
	r := rand.New(rand.NewSource(7))
	pick := func(s ...string) string { return s[r.Intn(len(s))] }
	out := []map[string]any{}
	for i := 0; i < 60; i++ {
		kl := &kubelet.Kubelet{}
		rc := kubelet.NewReasonCache()
		f := reflect.ValueOf(kl).Elem().FieldByName("reasonCache")
		reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem().Set(reflect.ValueOf(rc))
		p := `{"metadata":{"name":"p","namespace":"n","uid":"u"` + pick(``, ``, ``, `,"deletionTimestamp":"2026-01-01T00:00:00Z"`) + `},"spec":{"restartPolicy":"` + pick("Always", "OnFailure", "Never") + `"`
		names := []string{"b", "a"}
		if r.Intn(2) == 0 {
			p += `,"initContainers":[{"name":"z","image":"img-z"` + pick(``, `,"restartPolicy":"Always"`) + `}]`
			names = append(names, "z")
		}
		p += `,"containers":[{"name":"b","image":"img-b"` + pick(``, `,"resources":{"requests":{"cpu":"100m","memory":"64Mi"},"limits":{"cpu":"200m","memory":"128Mi"}}`) + `},{"name":"a","image":"img-a"` + pick(``, `,"restartPolicy":"Never","restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[42]}}]`) + `}]}}`
		var pod v1.Pod
		if err := json.Unmarshal([]byte(p), &pod); err != nil { panic(p) }
		prev := `{}`
		if r.Intn(4) > 0 {
			one := func(n string) string {
				st := pick(`{"waiting":{"reason":"ContainerCreating"}}`, `{"running":{"startedAt":"2026-01-01T00:00:05Z"}}`, `{"terminated":{"exitCode":1,"reason":"Error","startedAt":"2026-01-01T00:00:05Z","finishedAt":"2026-01-01T00:00:06Z","containerID":"containerd://old"}}`)
				return `{"name":"` + n + `","image":"img-old","imageID":"","ready":false,"restartCount":` + fmt.Sprint(r.Intn(4)) + `,"state":` + st + `,"lastState":` + pick(`{}`, `{"terminated":{"exitCode":3,"startedAt":"2026-01-01T00:00:01Z","finishedAt":"2026-01-01T00:00:02Z"}}`) + `}`
			}
			prev = `{"containerStatuses":[` + one("a") + `,` + one("b") + `]`
			if len(names) == 3 { prev += `,"initContainerStatuses":[` + one("z") + `]` }
			prev += `}`
		}
		var old v1.PodStatus
		if err := json.Unmarshal([]byte(prev), &old); err != nil { panic(prev) }
		observed := []map[string]any{}
		ps := &kc.PodStatus{ID: "u", Name: "p", Namespace: "n"}
		waiting := map[string]any{}
		created := int64(1767225600000) + 1000000
		for _, n := range names {
			count := r.Intn(4)
			for k := 0; k < count; k++ {
				created -= 1000
				state := pick("running", "exited", "exited", "created", "unknown")
				if k > 0 { state = pick("exited", "exited", "exited", "unknown") }
				o := map[string]any{"id": fmt.Sprintf("%s%d", n, k), "name": n, "sandboxId": "s", "state": state, "createdAt": created, "startedAt": 0, "finishedAt": 0, "exitCode": 0, "reason": "", "message": "", "image": "img-" + n + ":seen", "imageRef": "sha256:" + n, "imageId": "", "logPath": "", "hash": "", "restartCount": 3 - k, "annotations": map[string]string{}, "labels": map[string]string{}}
				s := &kc.Status{ID: kc.ContainerID{Type: "containerd", ID: fmt.Sprintf("%s%d", n, k)}, Name: n, CreatedAt: time.UnixMilli(created), Image: "img-" + n + ":seen", ImageRef: "sha256:" + n, RestartCount: 3 - k}
				switch state {
				case "running":
					s.State = kc.ContainerStateRunning
					s.StartedAt = time.UnixMilli(created + 100).UTC()
					o["startedAt"] = created + 100
					if r.Intn(2) == 0 {
						o["resources"] = map[string]string{"cpuShares": "102", "cpuQuota": "30000", "cpuPeriod": "100000", "memoryLimitInBytes": "134217728"}
						s.Resources = &kc.ContainerResources{CPURequest: resource.NewMilliQuantity(100, resource.DecimalSI), CPULimit: resource.NewMilliQuantity(300, resource.DecimalSI), MemoryLimit: resource.NewQuantity(134217728, resource.BinarySI)}
					}
				case "exited":
					s.State = kc.ContainerStateExited
					s.ExitCode = []int{0, 1, 42}[r.Intn(3)]
					s.Reason = "Error"
					s.Message = "m"
					s.StartedAt = time.UnixMilli(created + 100).UTC()
					s.FinishedAt = time.UnixMilli(created + 900).UTC()
					o["startedAt"], o["finishedAt"], o["exitCode"], o["reason"], o["message"] = created+100, created+900, s.ExitCode, "Error", "m"
				case "created":
					s.State = kc.ContainerStateCreated
				default:
					s.State = kc.ContainerStateUnknown
				}
				observed = append(observed, o)
				ps.ContainerStatuses = append(ps.ContainerStatuses, s)
			}
			if r.Intn(2) == 0 {
				add(rc, "u", n, errors.New("CrashLoopBackOff"), "back-off "+n)
				waiting[n] = map[string]any{"ready": true, "started": true, "waiting": map[string]string{"reason": "CrashLoopBackOff", "message": "back-off " + n}}
			}
		}
		got := convert(kl, &pod, ps, old)
		out = append(out, map[string]any{"pod": json.RawMessage(p), "previous": json.RawMessage(prev), "containers": observed, "decisions": waiting, "regular": got.ContainerStatuses, "init": got.InitContainerStatuses})
	}
	f, _ := os.Create("status-vectors.json")
	f.WriteString("[\n")
	for i, o := range out {
		b, _ := json.Marshal(o)
		f.Write(b)
		if i < len(out)-1 { f.WriteString(",") }
		f.WriteString("\n")
	}
	f.WriteString("]\n")
	f.Close()
}
