// Records what kubelet's own matching of a login's location (pkg/credentialprovider, URLsMatchStr) makes of drawn ones, for test/pure/images/registry-match.test.ts. To make the record again (after a new Kubernetes
// release; Go as new as the one that it is built with reads URLs as strictly):
//
//	cd test/tools && go run ./registry-match-vectors > ../pure/images/kubelet-registry-match-vectors.json
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"strings"

	"k8s.io/kubernetes/pkg/credentialprovider"
)

// vector is a location, what is held against it, and whether that fits. Bad: the location is none to Go.
type vector struct {
	Pattern string `json:"pattern"`
	Target  string `json:"target"`
	Match   bool   `json:"match,omitempty"`
	Bad     bool   `json:"bad,omitempty"`
}

func main() {
	draw := rand.New(rand.NewSource(20261123))
	text := func(pieces []string, most int) string {
		var out strings.Builder
		for range draw.Intn(most + 1) {
			out.WriteString(pieces[draw.Intn(len(pieces))])
		}
		return out.String()
	}
	var locations []vector
	seen := map[string]bool{}
	hosts := []string{"a", "b", "ab", "*", "a*", "*b", "*a*", "?", "[ab]", "io", ".", ".", ".", ":5000", ":80", "/x", "/x/y", "/", "[", "[::1]", "a\\b"}
	images := []string{"a", "b", "ab", "io", ".", ".", ".", ":5000", ":80", "/x", "/x/y", "/", "[::1]"}
	for kept := [3]int{}; kept[0] < 200 || kept[1] < 200 || kept[2] < 40; {
		pattern, image := text(hosts, 6), text(images, 6)
		match, err := credentialprovider.URLsMatchStr(pattern, image)
		kind := 0
		if match {
			kind = 1
		}
		if err != nil {
			kind = 2
		}
		if seen[pattern+"\x01"+image] || kept[kind] >= 200 {
			continue
		}
		seen[pattern+"\x01"+image] = true
		kept[kind]++
		locations = append(locations, vector{pattern, image, match, err != nil})
	}
	out, err := json.Marshal(locations)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(string(out))
}
