// cri-contract compares this project's CRI contract with the one in k8s.io/cri-api:
//
//	buf build cri/proto --as-file-descriptor-set -o /dev/stdout | cri-contract
//
// It prints how many services, methods, messages, fields and enum values agree, and exits 1 with the first
// differing element when they do not.
package main

import (
	"fmt"
	"io"
	"os"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// listing maps each element's full name to all that matters of it on the wire and in generated code.
type listing map[protoreflect.FullName]string

func (l listing) services(f protoreflect.FileDescriptor) {
	for i := range f.Services().Len() {
		s := f.Services().Get(i)
		l[s.FullName()] = "service"
		for j := range s.Methods().Len() {
			m := s.Methods().Get(j)
			l[m.FullName()] = fmt.Sprintf("rpc (%s, stream %t) (%s, stream %t)",
				m.Input().FullName(), m.IsStreamingClient(), m.Output().FullName(), m.IsStreamingServer())
		}
	}
}

func (l listing) enums(es protoreflect.EnumDescriptors) {
	for i := range es.Len() {
		e := es.Get(i)
		l[e.FullName()] = "enum"
		for j := range e.Values().Len() {
			v := e.Values().Get(j)
			// Values live beside their enum, so the enum's name is part of what is compared.
			l[v.FullName()] = fmt.Sprintf("%s value %d", e.FullName(), v.Number())
		}
	}
}

func (l listing) messages(ms protoreflect.MessageDescriptors) {
	for i := range ms.Len() {
		m := ms.Get(i)
		l[m.FullName()] = fmt.Sprintf("message, map entry %t", m.IsMapEntry())
		l.enums(m.Enums())
		l.messages(m.Messages())
		for j := range m.Fields().Len() {
			f := m.Fields().Get(j)
			var of protoreflect.FullName
			if f.Message() != nil {
				of = f.Message().FullName()
			} else if f.Enum() != nil {
				of = f.Enum().FullName()
			}
			oneof := ""
			if o := f.ContainingOneof(); o != nil {
				oneof = string(o.Name())
			}
			options := f.Options().(*descriptorpb.FieldOptions)
			l[f.FullName()] = fmt.Sprintf("field %d, %s %s %s, oneof %q, presence %t, packed %t, redacted %t", f.Number(),
				f.Cardinality(), f.Kind(), of, oneof, f.HasPresence(), f.IsPacked(), options.GetDebugRedact())
		}
	}
}

func list(f protoreflect.FileDescriptor) listing {
	l := listing{}
	l.services(f)
	l.enums(f.Enums())
	l.messages(f.Messages())
	return l
}

func ours() (protoreflect.FileDescriptor, error) {
	bytes, err := io.ReadAll(os.Stdin)
	if err != nil {
		return nil, err
	}
	set := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(bytes, set); err != nil {
		return nil, err
	}
	files, err := protodesc.NewFiles(set)
	if err != nil {
		return nil, err
	}
	return files.FindFileByPath("runtime/v1/api.proto")
}

func main() {
	file, err := ours()
	if err != nil {
		fmt.Fprintln(os.Stderr, "cri-contract:", err)
		os.Exit(2)
	}
	theirs := cri.File_staging_src_k8s_io_cri_api_pkg_apis_runtime_v1_api_proto
	got, want := list(file), list(theirs)
	differences := 0
	for name, w := range want {
		if g := got[name]; g != w {
			fmt.Printf("%s: is %q, must be %q\n", name, g, w)
			differences++
		}
	}
	for name, g := range got {
		if _, known := want[name]; !known {
			fmt.Printf("%s: is %q, must not exist\n", name, g)
			differences++
		}
	}
	if differences > 0 {
		os.Exit(1)
	}
	fmt.Printf("%d elements agree\n", len(want))
}
