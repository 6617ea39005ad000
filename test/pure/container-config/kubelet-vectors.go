// Makes the kubelet-*vectors.json files of test/pure/{qos,sandbox-config,container-config,status} from the kubelet's
// own packages (v1.35.4). Not part of any build; to make them again: put this file into an empty folder beside the
// go.mod and go.sum of ~/.cache/node-lab/k8s-1.35.4 (module name changed), `GOFLAGS=-mod=mod go run .`, copy the files.
//go:build ignore

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	kc "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	"k8s.io/kubernetes/pkg/kubelet/network/dns"
	"k8s.io/kubernetes/pkg/kubelet/qos"
	"k8s.io/kubernetes/pkg/kubelet/status"
	v1qos "k8s.io/kubernetes/pkg/apis/core/v1/helper/qos"
	"k8s.io/kubernetes/pkg/fieldpath"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
)

type M = map[string]any

func write(name string, v any) {
	f, err := os.Create(name)
	if err != nil { panic(err) }
	e := json.NewEncoder(f)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil { panic(err) }
	f.Close()
}

func pod(s string) *v1.Pod {
	p := &v1.Pod{}
	if err := json.Unmarshal([]byte(s), p); err != nil { panic(s + err.Error()) }
	return p
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func main() {
	// hashes and expansion
	hashes := []M{}
	for _, c := range [][2]string{{"test_container", "foo/image:v1"}, {"a", "b"}, {"", ""}, {"web", "nginx"}, {"web", "nginx:1.27"},
		{"web", "registry.k8s.io/pause:3.10"}, {"sidecar", "localhost:5000/x/y@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"},
		{"a<b>&c", "x\"y\\z"}, {"ünï", "日本\u2028\u2029語"}, {"tab\tnl\n", "\x01\x1f\x7f\b\f"}, {"emoji", "😀"}} {
		hashes = append(hashes, M{"name": c[0], "image": c[1], "hash": fmt.Sprintf("%x", kc.HashContainer(&v1.Container{Name: c[0], Image: c[1]}))})
	}
	exp := []M{}
	m := expansion.MappingFuncFor(map[string]string{"A": "1", "B": "$(A)", "EMPTY": ""})
	for _, in := range []string{"", "$", "$$", "$$$", "$(A)", "$$(A)", "$$$(A)", "$(A", "$(", "$A", "x$(A)y$(B)z", "$(MISSING)", "$()", "$(A)$(A)", "$(EMPTY)|", "$($(A))", "$(A)$", "$é(A)", "a$$b$(A)$c", "$\u00ff", "$😀(A)", "$a$(A)", "$)$(A)"} {
		exp = append(exp, M{"in": in, "out": expansion.Expand(in, m)})
	}
	maps := []M{}
	for _, mm := range []map[string]string{{}, {"b": "2", "a": "1"}, {"k": "line\nbreak\t\"q\" \\ \x01 é \u00a0 \u200b 😀 \U000e0001"}} {
		maps = append(maps, M{"map": mm, "text": fieldpath.FormatMap(mm)})
	}
	write("container-vectors.json", M{"hash": hashes, "expand": exp, "formatMap": maps})

	// qos
	st := `"annotations":{"kubernetes.io/config.source":"file"}`
	res := func(r, l string) string { return `"resources":{"requests":{` + r + `},"limits":{` + l + `}}` }
	pods := []string{
		`{"spec":{"containers":[{"name":"a"}]}}`,
		`{"spec":{"containers":[{"name":"a",` + res(`"cpu":"100m","memory":"64Mi"`, `"cpu":"100m","memory":"64Mi"`) + `}]}}`,
		`{"spec":{"containers":[{"name":"a",` + res(`"cpu":"100m"`, ``) + `},{"name":"b"}]}}`,
		`{"spec":{"containers":[{"name":"a",` + res(`"cpu":"1500m","memory":"1Gi"`, `"cpu":"2","memory":"2Gi"`) + `},{"name":"b",` + res(``, `"cpu":"1m","memory":"100M"`) + `}]}}`,
		`{"spec":{"initContainers":[{"name":"i",` + res(`"cpu":"3","memory":"3Gi"`, `"cpu":"4","memory":"4Gi"`) + `},{"name":"s","restartPolicy":"Always",` + res(`"cpu":"250m","memory":"128Mi"`, `"cpu":"500m","memory":"256Mi"`) + `},{"name":"j",` + res(`"cpu":"1"`, ``) + `}],"containers":[{"name":"a",` + res(`"cpu":"100m","memory":"1Gi"`, `"cpu":"1","memory":"1Gi"`) + `}]}}`,
		`{"spec":{"resources":{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"1","memory":"1Gi"}},"containers":[{"name":"a"}]}}`,
		`{"spec":{"resources":{"requests":{"memory":"2Gi"}},"containers":[{"name":"a",` + res(`"memory":"512Mi"`, ``) + `},{"name":"b"}],"initContainers":[{"name":"s","restartPolicy":"Always"}]}}`,
		`{"spec":{"resources":{"limits":{"cpu":"2"}},"containers":[{"name":"a",` + res(`"cpu":"100m"`, ``) + `}]}}`,
		`{"spec":{"overhead":{"cpu":"250m","memory":"64Mi"},"containers":[{"name":"a",` + res(`"cpu":"100m","memory":"64Mi"`, `"cpu":"100m","memory":"64Mi"`) + `}]}}`,
		`{"metadata":{` + st + `},"spec":{"priorityClassName":"system-node-critical","containers":[{"name":"a"}]}}`,
		`{"metadata":{` + st + `},"spec":{"priorityClassName":"system-cluster-critical","priority":2000000000,"containers":[{"name":"a",` + res(`"memory":"7Gi"`, ``) + `}]}}`,
		`{"spec":{"containers":[{"name":"a",` + res(`"cpu":"0","memory":"0"`, ``) + `}]}}`,
		`{"spec":{"containers":[{"name":"a",` + res(`"nvidia.com/gpu":"1"`, `"nvidia.com/gpu":"1"`) + `}]}}`,
		`{"spec":{"containers":[{"name":"a",` + res(`"memory":"1"`, ``) + `}]}}`,
		`{"spec":{"initContainers":[{"name":"s","restartPolicy":"Always",` + res(`"memory":"10Mi"`, ``) + `}],"containers":[{"name":"a",` + res(`"memory":"4Gi"`, ``) + `},{"name":"b",` + res(`"memory":"2Gi"`, ``) + `}]}}`,
		`{"spec":{"containers":[{"name":"a",` + res(`"cpu":"300","memory":"64Gi"`, `"cpu":"300","memory":"64Gi"`) + `},{"name":"b",` + res(`"cpu":"1"`, ``) + `}]}}`,
		`{"spec":{"containers":[{"name":"a",` + res(`"cpu":"0.0005"`, `"cpu":"5m"`) + `}]}}`,
		`{"status":{"qosClass":"Guaranteed"},"spec":{"containers":[{"name":"a"}]}}`,
	}
	out := []M{}
	const capacity = int64(8 << 30)
	for _, s := range pods {
		p := pod(s)
		c := cm.ResourceConfigForPod(p, true, 100000, false)
		off := cm.ResourceConfigForPod(p, false, 100000, false)
		oom := M{}
		for i := range p.Spec.Containers { oom[p.Spec.Containers[i].Name] = qos.GetContainerOOMScoreAdjust(p, &p.Spec.Containers[i], capacity) }
		for i := range p.Spec.InitContainers { oom[p.Spec.InitContainers[i].Name] = qos.GetContainerOOMScoreAdjust(p, &p.Spec.InitContainers[i], capacity) }
		out = append(out, M{"pod": raw(s), "qos": v1qos.GetPodQOS(p), "shares": c.CPUShares, "quota": c.CPUQuota, "period": c.CPUPeriod, "memory": c.Memory, "quotaOff": off.CPUQuota, "oom": oom})
	}
	paths := []M{}
	for _, parts := range [][]string{{"kubepods", "burstable", "pod1234-abcd"}, {"kubepods", "pod1"}, {"a-b", "c", "kubepods", "besteffort", "podx-y-z"}, {}} {
		n := cm.NewCgroupName(cm.RootCgroupName, parts...)
		paths = append(paths, M{"parts": parts, "systemd": n.ToSystemd(), "cgroupfs": n.ToCgroupfs()})
	}
	write("qos-vectors.json", M{"capacity": capacity, "pods": out, "paths": paths})

	// dns
	os.WriteFile("resolv", []byte("nameserver 10.1.1.1\nnameserver 10.1.1.2\nsearch corp.example lan\noptions timeout:1 rotate\n"), 0644)
	long := strings.Repeat("x", 60)
	many := []string{}
	for i := 0; i < 40; i++ { many = append(many, fmt.Sprintf("%q", fmt.Sprintf("s%d.example", i))) }
	chars := []string{}
	for i := 0; i < 12; i++ { chars = append(chars, fmt.Sprintf("%q", fmt.Sprintf("%d.%s.%s.%s", i, long, long, long))) }
	tooLong := fmt.Sprintf("%q", strings.Repeat(long+".", 5)+"com")
	base := `"containers":[]`
	specs := []string{
		`"dnsPolicy":"ClusterFirst"`, `"dnsPolicy":"Default"`, `"dnsPolicy":"None"`, `"dnsPolicy":"ClusterFirst","hostNetwork":true`, `"dnsPolicy":"ClusterFirstWithHostNet","hostNetwork":true`,
		`"dnsPolicy":"ClusterFirst","dnsConfig":{"nameservers":["1.1.1.1","10.96.0.10","2.2.2.2","3.3.3.3","4.4.4.4"],"searches":["lan","own"],"options":[{"name":"ndots","value":"2"},{"name":"edns0"}]}`,
		`"dnsPolicy":"None","dnsConfig":{"nameservers":["1.1.1.1"],"searches":[` + strings.Join(many, ",") + `]}`,
		`"dnsPolicy":"None","dnsConfig":{"nameservers":["1.1.1.1"],"searches":[` + strings.Join(chars, ",") + `]}`,
		`"dnsPolicy":"Default","dnsConfig":{"searches":[` + tooLong + `,"ok"]}`,
	}
	douts := []M{}
	for _, cluster := range []bool{true, false} {
		for _, sp := range specs {
			s := `{"metadata":{"name":"p","namespace":"ns","uid":"u1"},"spec":{` + base + `,` + sp + `}}`
			rec := record.NewFakeRecorder(20)
			var ips []net.IP
			if cluster { ips = []net.IP{net.ParseIP("10.96.0.10")} }
			conf := dns.NewConfigurer(rec, &v1.ObjectReference{Kind: "Node", Name: "n"}, []net.IP{net.ParseIP("192.168.0.2")}, ips, "cluster.local", "resolv")
			p := pod(s)
			d, err := conf.GetPodDNS(context.Background(), p)
			if err != nil { panic(err) }
			events := []string{}
			for len(rec.Events) > 0 { events = append(events, <-rec.Events) }
			douts = append(douts, M{"cluster": cluster, "pod": raw(s), "servers": d.Servers, "searches": d.Searches, "options": d.Options, "events": events})
		}
	}
	write("dns-vectors.json", douts)

	// conditions
	type C struct{ Pod, Statuses, Phase string }
	cs := []C{
		{`{"spec":{"containers":[{"name":"a"},{"name":"b"}]}}`, `[{"name":"a","ready":false},{"name":"b","ready":false}]`, "Pending"},
		{`{"spec":{"containers":[{"name":"a"},{"name":"b"}]}}`, `[{"name":"a","ready":true},{"name":"b","ready":true}]`, "Running"},
		{`{"spec":{"containers":[{"name":"a"},{"name":"b"}]}}`, `[{"name":"a","ready":true}]`, "Running"},
		{`{"spec":{"containers":[{"name":"a"}]}}`, `[{"name":"a","ready":false,"state":{"terminated":{"exitCode":0}}}]`, "Succeeded"},
		{`{"spec":{"containers":[{"name":"a"}]}}`, `[{"name":"a","ready":false,"state":{"terminated":{"exitCode":1}}}]`, "Failed"},
		{`{"spec":{"initContainers":[{"name":"i"},{"name":"j"}],"containers":[{"name":"a"}]}}`, `[{"name":"i","ready":true},{"name":"j","ready":false},{"name":"a","state":{"waiting":{}}}]`, "Pending"},
		{`{"spec":{"initContainers":[{"name":"s","restartPolicy":"Always"}],"containers":[{"name":"a"}]}}`, `[{"name":"s","ready":false,"started":false},{"name":"a","state":{"running":{}},"ready":true}]`, "Running"},
		{`{"spec":{"initContainers":[{"name":"s","restartPolicy":"Always"}],"containers":[{"name":"a"}]}}`, `[{"name":"s","ready":true,"started":true},{"name":"a","state":{"waiting":{}}}]`, "Pending"},
		{`{"spec":{"readinessGates":[{"conditionType":"x/y"},{"conditionType":"z"}],"containers":[{"name":"a"}]},"status":{"conditions":[{"type":"z","status":"False"}]}}`, `[{"name":"a","ready":true,"state":{"running":{}}}]`, "Running"},
		{`{"spec":{"initContainers":[{"name":"i"}],"containers":[{"name":"a"}]}}`, `[{"name":"i","ready":true},{"name":"a","state":{"terminated":{"exitCode":0}}}]`, "Succeeded"},
	}
	couts := []M{}
	for _, c := range cs {
		p := pod(c.Pod)
		var sts []v1.ContainerStatus
		if err := json.Unmarshal([]byte(c.Statuses), &sts); err != nil { panic(err) }
		ph := v1.PodPhase(c.Phase)
		show := func(x v1.PodCondition) M { r := M{"type": x.Type, "status": x.Status}; if x.Reason != "" { r["reason"] = x.Reason }; if x.Message != "" { r["message"] = x.Message }; return r }
		couts = append(couts, M{"pod": raw(c.Pod), "statuses": raw(c.Statuses), "phase": c.Phase, "conditions": []M{
			show(status.GeneratePodInitializedCondition(p, &v1.PodStatus{}, sts, ph)),
			show(status.GeneratePodReadyCondition(p, &v1.PodStatus{}, p.Status.Conditions, sts, ph)),
			show(status.GenerateContainersReadyCondition(p, &v1.PodStatus{}, sts, ph)),
		}})
	}
	write("condition-vectors.json", couts)
}
