// Records what kubelet's own CPU, memory and topology managers (pkg/kubelet/cm) give drawn pods on drawn machines, for
// test/pure/resource-managers/kubelet-vectors.test.ts. To make the record again (after a new Kubernetes release):
//
//	cd test/tools && go run ./resource-manager-vectors 2100 > ../pure/resource-managers/kubelet-vectors.jsonl
//
// A case in which kubelet's managers hang, panic or give a CPU to two pods is left out, and counted on stderr.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"os"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
)

// step is a pod that comes (Pod), or one that goes (Gone: its number from 1).
type step struct {
	Pod  *pod `json:"pod,omitempty"`
	Gone int  `json:"gone,omitempty"`
	// Hints: fingerprint of the hints of all containers before the pod is asked about, and of the pod as a whole.
	Hints string `json:"h,omitempty"`
	// Given: what each container has (CPUs, then memory by kind). Refused: reason and message.
	Given   []string `json:"g,omitempty"`
	Refused []string `json:"r,omitempty"`
	// After: fingerprint of the state.
	After string `json:"a,omitempty"`
}

// drawnCase is a line of the record.
type drawnCase struct {
	Machine machine `json:"machine"`
	Rules   rules   `json:"rules"`
	// Fails: why kubelet does not start.
	Fails string `json:"fails,omitempty"`
	Steps []step `json:"steps,omitempty"`
	// Files: the two checkpoints at the end, of some cases.
	Files []string `json:"files,omitempty"`
}

func main() {
	klog.SetLogger(logr.Discard())
	klog.SetOutput(io.Discard)
	must(utilfeature.DefaultMutableFeatureGate.Set("CPUManagerPolicyAlphaOptions=true"))
	wanted := 2100
	if len(os.Args) > 1 {
		wanted, _ = strconv.Atoi(os.Args[1])
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	lost := map[string]int{}
	for seed, kept := int64(1), 0; kept < wanted; seed++ {
		done := make(chan *drawnCase, 1)
		go func() {
			defer func() {
				if problem := recover(); problem != nil {
					fmt.Fprintf(os.Stderr, "seed %d: %v\n", seed, problem)
					done <- nil
				}
			}()
			done <- record(rand.New(rand.NewSource(seed)), kept%10 == 0)
		}()
		select {
		case made := <-done:
			if made == nil {
				lost["panic"]++
				continue
			}
			text, err := json.Marshal(made)
			must(err)
			out.Write(append(text, '\n'))
			kept++
		case <-time.After(60 * time.Second):
			fmt.Fprintf(os.Stderr, "seed %d hangs\n", seed)
			lost["hang"]++
		}
	}
	fmt.Fprintln(os.Stderr, "left out:", lost)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
