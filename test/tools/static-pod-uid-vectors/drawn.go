package main

import (
	"encoding/json"
	"math/rand"
	"reflect"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// drawing makes JSON of Go's types: what a manifest may hold, whether or not it makes sense.
type drawing struct {
	*rand.Rand
	// all: every field, each list with one item.
	all bool
	// likely: percent of fields that are there.
	likely int
}

func everyField(from *rand.Rand) string {
	return pod(drawing{Rand: from, all: true, likely: 100})
}

func drawn(from *rand.Rand) string {
	return pod(drawing{Rand: from, likely: []int{10, 25, 40}[from.Intn(3)]})
}

func pod(d drawing) string {
	drawn := d.value(reflect.TypeFor[v1.Pod](), "").(map[string]any)
	drawn["apiVersion"], drawn["kind"] = "v1", "Pod"
	metadata, ok := drawn["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
	}
	metadata["name"] = "drawn"
	delete(metadata, "uid")
	drawn["metadata"] = metadata
	spec, ok := drawn["spec"].(map[string]any)
	if !ok {
		spec = map[string]any{}
	}
	if containers, _ := spec["containers"].([]any); len(containers) == 0 {
		spec["containers"] = []any{map[string]any{"name": "a", "image": d.of(images)}}
	}
	drawn["spec"] = spec
	text, err := json.Marshal(drawn)
	must(err)
	return string(text)
}

var (
	strs      = []string{"", "a", "b-c", "two words", "é", "日本", "😀", "<nil>", "{}", "&<>", "line\nline", "\"quoted\"", "\u2028", "\ufeffx", "0", "true"}
	keys      = []string{"a", "b", "app.kubernetes.io/name", "Z", "é", "\ufffd", "😀", "a b", "_", "a.b", "pod.beta.kubernetes.io/init-containers"}
	images    = []string{"busybox", "busybox:latest", "busybox:1.37", "registry:5000/a/b", "registry.k8s.io/pause@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "Bad:Image:x", "", "a/b:latest"}
	amounts   = []any{"1", "100m", "1500m", "0.5", "64Mi", "1Gi", "1.5Gi", "1000", "2k", "1e3", "12E", "0", "0.1m", "1.0", "+5", "1000m", 1, 0.5, 250, "2Ki", "8Ki", "9Ki", "0.25Ki", "100u", "3n"}
	resources = []string{"cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "example.com/gpu", "storage"}
)

func (d drawing) of(from []string) string { return from[d.Intn(len(from))] }

// value is JSON of a type; field is its JSON name.
func (d drawing) value(t reflect.Type, field string) any {
	switch t {
	case reflect.TypeFor[resource.Quantity]():
		return amounts[d.Intn(len(amounts))]
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[*metav1.Time](), reflect.TypeFor[metav1.FieldsV1]():
		return nil
	case reflect.TypeFor[intstr.IntOrString]():
		if d.Intn(2) == 0 {
			return d.Intn(65536)
		}
		return d.of([]string{"http", "", "80"})
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.value(t.Elem(), field)
	case reflect.Slice:
		out := []any{}
		for range d.items() {
			out = append(out, d.value(t.Elem(), field))
		}
		return out
	case reflect.Map:
		out := map[string]any{}
		names := keys
		if t == reflect.TypeFor[v1.ResourceList]() {
			names = resources
		}
		for range d.items() {
			out[d.of(names)] = d.value(t.Elem(), field)
		}
		return out
	case reflect.Struct:
		out := map[string]any{}
		d.fields(t, out)
		return out
	case reflect.Bool:
		return d.all || d.Intn(2) == 0
	case reflect.Int32:
		return d.Int31() - int32(d.Intn(2)*d.Intn(1000000)) - int32(d.Intn(2))
	case reflect.Int64:
		return []int64{0, 1, 30, -1, 65534, 1 << 40, -(1 << 52)}[d.Intn(7)]
	case reflect.String:
		switch {
		case field == "image" || field == "reference":
			return d.of(images)
		case t == reflect.TypeFor[v1.ContainerRestartPolicy]():
			return d.of([]string{"Always", "Never"})
		case d.all:
			return "x-" + field
		}
		return d.of(strs)
	}
	panic(t.String())
}

func (d drawing) fields(t reflect.Type, out map[string]any) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" {
			d.fields(field.Type, out)
			continue
		}
		if d.Intn(100) >= d.likely {
			continue
		}
		if !d.all && d.Intn(12) == 0 {
			out[name] = nil
			continue
		}
		out[name] = d.value(field.Type, name)
	}
}

func (d drawing) items() int {
	if d.all {
		return 1
	}
	return []int{0, 1, 1, 2, 3}[d.Intn(5)]
}
