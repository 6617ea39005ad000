// Makes kubelet-phase-vectors.json from the kubelet's own code (v1.35.4); see ../container-config/kubelet-vectors.go for
// how to run it. It reaches unexported functions by linkname, so an empty empty.s must lie beside it.
//go:build ignore

package main

import (
	"encoding/json"
	"math/rand"
	"os"
	_ "unsafe"

	v1 "k8s.io/api/core/v1"
	_ "k8s.io/kubernetes/pkg/kubelet"
)

//go:linkname getPhase k8s.io/kubernetes/pkg/kubelet.getPhase
func getPhase(pod *v1.Pod, info []v1.ContainerStatus, podIsTerminal, podHasInitialized bool) v1.PodPhase

func main() {
	r := rand.New(rand.NewSource(42))
	states := []string{`{"waiting":{}}`, `{"running":{}}`, `{"terminated":{"exitCode":0}}`, `{"terminated":{"exitCode":1}}`, `{"terminated":{"exitCode":42}}`, `{}`}
	lasts := []string{`{}`, `{}`, `{"terminated":{"exitCode":0}}`, `{"terminated":{"exitCode":1}}`, `{"terminated":{"exitCode":42}}`}
	policies := []string{"Always", "OnFailure", "Never"}
	own := []string{"", "", "", `"restartPolicy":"Always",`, `"restartPolicy":"OnFailure",`, `"restartPolicy":"Never","restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[42]}}],`, `"restartPolicy":"Never","restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"NotIn","values":[42]}}],`}
	out := []map[string]any{}
	seen := map[v1.PodPhase]int{}
	for i := 0; i < 400; i++ {
		st := "["
		add := func(name string) {
			if r.Intn(12) == 0 { return }
			if len(st) > 1 { st += "," }
			started := ""
			if r.Intn(2) == 0 { started = `"started":true,` }
			st += `{"name":"` + name + `",` + started + `"state":` + states[r.Intn(len(states)-1+r.Intn(20)/19)] + `,"lastState":` + lasts[r.Intn(len(lasts))] + `}`
		}
		p := `{"metadata":{"name":"p"`
		if r.Intn(3) == 0 { p += `,"annotations":{"kubernetes.io/config.source":"file"}` }
		p += `},"spec":{"restartPolicy":"` + policies[r.Intn(3)] + `"`
		n := r.Intn(3)
		if n > 0 {
			p += `,"initContainers":[`
			for j := 0; j < n; j++ {
				if j > 0 { p += "," }
				name := string(rune('i' + j))
				p += `{` + own[r.Intn(len(own))] + `"name":"` + name + `"}`
				if r.Intn(2) == 0 {
					if len(st) > 1 { st += "," }
					st += `{"name":"` + name + `","started":true,"state":` + []string{`{"terminated":{"exitCode":0}}`, `{"running":{}}`}[r.Intn(2)] + `}`
				} else { add(name) }
			}
			p += `]`
		}
		p += `,"containers":[`
		m := 1 + r.Intn(2)
		for j := 0; j < m; j++ {
			if j > 0 { p += "," }
			name := string(rune('a' + j))
			p += `{` + own[r.Intn(len(own))] + `"name":"` + name + `"}`
			add(name)
		}
		p += `]}}`
		st += "]"
		var pod v1.Pod
		var sts []v1.ContainerStatus
		if err := json.Unmarshal([]byte(p), &pod); err != nil { panic(p) }
		if err := json.Unmarshal([]byte(st), &sts); err != nil { panic(st) }
		term, init := r.Intn(3) == 0, r.Intn(2) == 0
		ph := getPhase(&pod, sts, term, init)
		if seen[ph] > 60 { continue }
		seen[ph]++
		out = append(out, map[string]any{"pod": json.RawMessage(p), "statuses": json.RawMessage(st), "podIsTerminal": term, "initialized": init, "phase": ph})
	}
	f, _ := os.Create("phase-vectors.json")
	f.WriteString("[\n")
	for i, o := range out {
		b, _ := json.Marshal(o)
		f.Write(b)
		if i < len(out)-1 { f.WriteString(",") }
		f.WriteString("\n")
	}
	f.WriteString("]\n")
	f.Close()
	b, _ := json.Marshal(seen)
	println(string(b))
}
