// Writes down what Go's types of a pod look like, as far as kubelet's UIDs of static pods need it: kubelet hashes the text that spew
// makes of the internal pod (k8s.io/kubernetes/pkg/apis/core), which names the fields and types of Go in their order. To write it
// again (after a new Kubernetes release):
//
//	cd test/tools && go run ./static-pod-schema > ../../machines/static-pod-uid/generated/go-types.ts
package main

import (
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/apis/core"
)

// Types whose fields are not those of the JSON: they are written by hand on the other side.
var special = map[reflect.Type]bool{
	reflect.TypeFor[resource.Quantity]():  true,
	reflect.TypeFor[metav1.Time]():        true,
	reflect.TypeFor[intstr.IntOrString](): true,
	reflect.TypeFor[metav1.FieldsV1]():    true,
}

// Fields of the internal types that v1 has in the spec itself, with their names there (Convert_v1_PodSpec_To_core_PodSpec).
var moved = map[string]string{
	"core.PodSecurityContext.HostNetwork":           "hostNetwork",
	"core.PodSecurityContext.HostPID":               "hostPID",
	"core.PodSecurityContext.HostIPC":               "hostIPC",
	"core.PodSecurityContext.ShareProcessNamespace": "shareProcessNamespace",
	"core.PodSecurityContext.HostUsers":             "hostUsers",
}

// Fields of v1 that the internal types lack: these, and those that say what another field says, too.
var dropped = map[string]bool{
	"v1.PodSpec.HostNetwork":              true,
	"v1.PodSpec.HostPID":                  true,
	"v1.PodSpec.HostIPC":                  true,
	"v1.PodSpec.ShareProcessNamespace":    true,
	"v1.PodSpec.HostUsers":                true,
	"v1.PodSpec.DeprecatedServiceAccount": true,
	"v1.PodStatus.PodIP":                  true,
}

var (
	structs = map[string][]string{}
	named   = map[string]string{}
	known   = map[string]reflect.Type{}
	lacks   []string
)

func main() {
	see(reflect.TypeFor[core.Pod](), reflect.TypeFor[v1.Pod]())
	if len(lacks) > 0 {
		fmt.Fprintln(os.Stderr, strings.Join(lacks, "\n"))
		os.Exit(1)
	}
	fmt.Println("// Written by test/tools/static-pod-schema from the Go types of Kubernetes 1.35.4: not to be edited.")
	fmt.Println()
	fmt.Println("/**")
	fmt.Println(" * Structs of the internal pod (`k8s.io/kubernetes/pkg/apis/core`) with their fields in Go's order: `Name:json:type`, where `json`")
	fmt.Println(" * is the field's name in a `v1.Pod`, empty for an embedded struct, whose fields lie in the same object, and `-` for what no JSON sets.")
	fmt.Println(" */")
	fmt.Println("export const GO_STRUCTS: Readonly<Record<string, string>> = {")
	for _, name := range sorted(structs) {
		fmt.Printf("  '%s':\n    '%s',\n", name, strings.Join(structs[name], " "))
	}
	fmt.Println("};")
	fmt.Println()
	fmt.Println("/** Named types that are no structs, and what they are. */")
	fmt.Println("export const GO_NAMED: Readonly<Record<string, string>> = {")
	for _, name := range sorted(named) {
		fmt.Printf("  '%s': '%s',\n", name, named[name])
	}
	fmt.Println("};")
}

// see writes down an internal type; outer is the type of v1 that becomes it.
func see(internal, outer reflect.Type) {
	if outer.Kind() == reflect.Pointer && internal.Kind() != reflect.Pointer {
		// What has a default is always there inside.
		outer = outer.Elem()
	}
	if internal.Kind() != outer.Kind() {
		lacks = append(lacks, fmt.Sprintf("%v is a %v, %v a %v", internal, internal.Kind(), outer, outer.Kind()))
		return
	}
	if internal.Name() != "" && internal.PkgPath() != "" {
		if before, ok := known[internal.String()]; ok {
			if before != internal {
				lacks = append(lacks, fmt.Sprintf("two types are called %v", internal))
			}
			return
		}
		known[internal.String()] = internal
	}
	if special[internal] {
		return
	}
	switch internal.Kind() {
	case reflect.Pointer, reflect.Slice:
		see(internal.Elem(), outer.Elem())
	case reflect.Map:
		if internal.Key().Kind() != reflect.String {
			lacks = append(lacks, fmt.Sprintf("%v has keys that are no strings", internal))
		}
		see(internal.Key(), outer.Key())
		see(internal.Elem(), outer.Elem())
	case reflect.Struct:
		seeStruct(internal, outer)
		return
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64, reflect.Uint8:
	default:
		lacks = append(lacks, fmt.Sprintf("%v is a %v", internal, internal.Kind()))
	}
	if internal.PkgPath() != "" {
		named[internal.String()] = underlying(internal)
	}
}

func seeStruct(internal, outer reflect.Type) {
	var fields []string
	for i := range internal.NumField() {
		field := internal.Field(i)
		from, ok := outer.FieldByName(field.Name)
		at := fmt.Sprintf("%v.%s", internal, field.Name)
		if !ok || len(from.Index) != 1 {
			if moved[at] == "" {
				lacks = append(lacks, at+" has no counterpart in v1")
			}
			fields = append(fields, fmt.Sprintf("%s:%s:%v", field.Name, moved[at], field.Type))
			seeAlone(field.Type)
			continue
		}
		if field.Name == "TypeMeta" {
			// The decoder leaves it empty in an internal object.
			structs["v1.TypeMeta"] = []string{"Kind:-:string", "APIVersion:-:string"}
			fields = append(fields, "TypeMeta:-:v1.TypeMeta")
			continue
		}
		json, _, _ := strings.Cut(from.Tag.Get("json"), ",")
		if json == "" && !from.Anonymous {
			lacks = append(lacks, at+" has no name in JSON")
		}
		if field.Anonymous != from.Anonymous {
			lacks = append(lacks, at+" is embedded in one of the two only")
		}
		fields = append(fields, fmt.Sprintf("%s:%s:%v", field.Name, json, field.Type))
		see(field.Type, from.Type)
	}
	for i := range outer.NumField() {
		name := outer.Field(i).Name
		if _, ok := internal.FieldByName(name); !ok && !dropped[fmt.Sprintf("%v.%s", outer, name)] {
			lacks = append(lacks, fmt.Sprintf("%v.%s has no counterpart inside", outer, name))
		}
	}
	structs[internal.String()] = fields
}

// seeAlone is for fields that v1 has elsewhere: they are flat.
func seeAlone(t reflect.Type) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.PkgPath() != "" {
		lacks = append(lacks, fmt.Sprintf("%v is moved, but not flat", t))
	}
}

// underlying is what a named type is, in Go's words.
func underlying(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "[]" + t.Elem().String()
	case reflect.Map:
		return "map[" + t.Key().String() + "]" + t.Elem().String()
	}
	return t.Kind().String()
}

func sorted[V any](of map[string]V) []string {
	var keys []string
	for key := range of {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
