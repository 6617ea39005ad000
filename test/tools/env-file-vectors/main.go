// Records what kubelet's own parser of env files (KEP-3721, pkg/kubelet/util/env) makes of drawn files, for
// test/pure/container-config/env-file.test.ts. To make the record again (after a new Kubernetes release):
//
//	cd test/tools && go run ./env-file-vectors > ../pure/container-config/kubelet-env-file-vectors.json
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"

	envutil "k8s.io/kubernetes/pkg/kubelet/util/env"
)

// piece is a text that stands in a file so many times.
type piece struct {
	Text  string `json:"text"`
	Times int    `json:"times,omitempty"`
}

// vector is a file, a key and what kubelet reads. Texts of pieces and the value are base64: they need not be UTF-8.
type vector struct {
	File  []piece `json:"file"`
	Key   string  `json:"key"`
	Value *string `json:"value,omitempty"`
	// SHA256 stands for a value that is too long to be written down.
	SHA256 string `json:"sha256,omitempty"`
	Error  string `json:"error,omitempty"`
}

func main() {
	folder, err := os.MkdirTemp("", "env-file-vectors")
	must(err)
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "env")

	// A fixed seed: the same record each time.
	draw := rand.New(rand.NewSource(3721))
	var out []vector
	seen := map[string]bool{}
	record := func(key string, pieces ...piece) {
		var content bytes.Buffer
		for i, p := range pieces {
			content.WriteString(strings.Repeat(p.Text, max(p.Times, 1)))
			pieces[i].Text = base64.StdEncoding.EncodeToString([]byte(p.Text))
		}
		id := key + "\x00" + content.String()
		if seen[id] {
			return
		}
		seen[id] = true
		must(os.WriteFile(path, content.Bytes(), 0o600))
		v := vector{File: pieces, Key: key}
		value, err := envutil.ParseEnv(path, key)
		switch {
		case err != nil:
			v.Error = strings.ReplaceAll(err.Error(), fmt.Sprintf("%q", path), "FILE")
		case len(value) > 1000:
			sum := sha256.Sum256([]byte(value))
			v.SHA256 = hex.EncodeToString(sum[:])
		default:
			text := base64.StdEncoding.EncodeToString([]byte(value))
			v.Value = &text
		}
		out = append(out, v)
	}

	for len(out) < 150 {
		record(key(draw), piece{Text: noise(draw)})
	}
	for len(out) < 550 {
		record(key(draw), piece{Text: file(draw)})
	}
	for len(out) < 900 {
		record(key(draw), piece{Text: good(draw)})
	}
	// Around the longest line that a scanner holds, in each place where a line can end.
	for _, n := range []int{4095, 4096, 65533, 65534, 65535, 65536, 65537, 131072} {
		for _, end := range []string{"", "\n", "\r\n", "\r", "\nA='a'\n", "'", "'\n", "'\r\n", "'\nB='b'\n", "' # A\n"} {
			record("A", piece{Text: "A='"}, piece{Text: "x", Times: n - len("A='") - len(strings.TrimRight(end, "\n"))}, piece{Text: end})
			record("A", piece{Text: "#", Times: n}, piece{Text: end}, piece{Text: "A='after'\n"})
			record("B", piece{Text: "A='1'\nB='\n"}, piece{Text: "y", Times: n}, piece{Text: end})
		}
	}
	record("A", piece{Text: "A='"}, piece{Text: "line of a long value\n", Times: 9000}, piece{Text: "'"})
	record("Z", piece{Text: "A='1' # one\r\n\r\n", Times: 9000}, piece{Text: "Z='z'"})

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

func key(draw *rand.Rand) string {
	return pick(draw, "A", "A", "A", "B", "KEY", "Z", "a.b-c", "A B", "#A", "")
}

// noise: what stands in env files, in any order.
func noise(draw *rand.Rand) string {
	var out strings.Builder
	for range draw.Intn(14) {
		out.WriteString(pick(draw, "A", "B", "=", "=", "'", "'", "'", "\n", "\n", "\r\n", "\r", " ", "\t", "#", "x", "\"", "$A", "\\", "é", "\xff", "\x00", "\v", "\u00a0", "\ufeff", "\u2028"))
	}
	return out.String()
}

// file: lines that are mostly good.
func file(draw *rand.Rand) string {
	var out strings.Builder
	for range 1 + draw.Intn(5) {
		out.WriteString(line(draw))
		out.WriteString(pick(draw, "\n", "\n", "\n", "\n", "\r\n", "\r\r\n", ""))
	}
	return out.String()
}

// good: a file without a mistake.
func good(draw *rand.Rand) string {
	var out strings.Builder
	for range 1 + draw.Intn(6) {
		out.WriteString(pick(draw, "", "", "", "\n", "\r\n", " \t\n", "# A='no'\n", "\t#\n", "B= 'x' y\n"))
		out.WriteString(pick(draw, "", "", " ", "\t") + pick(draw, "A", "B", "KEY", "Z", "a.b-c", "A B", "export A", "\ufeffA"))
		out.WriteString("='" + value(draw) + "'" + pick(draw, "", "", " ", "\t", " # c", "#c'", " #'") + pick(draw, "\n", "\n", "\r\n"))
	}
	return out.String()
}

func line(draw *rand.Rand) string {
	switch draw.Intn(12) {
	case 0:
		return pick(draw, "", " ", "\t \t", "\v", "\r", "\ufeff")
	case 1:
		return pick(draw, "#", "# A='no'", "  # x", "\t#A='no'")
	case 2:
		return noise(draw)
	case 3:
		return pick(draw, "A =", "A= ", "A=", "=", "A", "A=\t", " =") + pick(draw, "'x'", "x", "", "\"x\"")
	}
	return pick(draw, "", "", "", " ", "\t", " \t ", "\v") + pick(draw, "A", "A", "B", "KEY", "a.b-c", "A B", "export A", "é", "\xff") + "=" +
		pick(draw, "'", "'", "'", "'", "'", " '", "\"", "") + value(draw) + pick(draw, "'", "'", "'", "'", "'", "'", "\"", "") +
		pick(draw, "", "", "", "", " ", "\t", " # c", "#c", " x", "'y'", ";", "\\", "\v")
}

func value(draw *rand.Rand) string {
	var out strings.Builder
	for range draw.Intn(6) {
		out.WriteString(pick(draw, "v", "two words", "=", "#", " # ", "$A", "$(A)", "\\n", "\\", "\"", "\n", "\n\n", "\r\n", "\r", "\t", "  ", "é", "日本", "😀", "\xff\xfe", "\xc3", "\x00", "\ufeff"))
	}
	return out.String()
}

func pick(draw *rand.Rand, from ...string) string { return from[draw.Intn(len(from))] }

func must(err error) {
	if err != nil {
		panic(err)
	}
}
