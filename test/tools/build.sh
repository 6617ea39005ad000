#!/usr/bin/env bash
# Builds a reference tool from its Go module, once, and prints the binary's path:
#   build.sh kubelet|kubelet-newest|kubeadm|kube-apiserver|kube-scheduler|kube-controller-manager|kubectl|etcd|metrics-server|
#            ginkgo|e2e.test|e2e_node.test|agnhost|sample-device-plugin|containerd2|runc|csi-sanity|csi-attacher|csi-provisioner|csi-resizer|csi-node-driver-registrar|csi-mock-driver|cri-client|cri-contract|stream-client|nonewprivs|fake-logind|kube-proxy|coredns|sample-apiserver|kwok|kubemark
# kubelet-newest, kwok and kubemark are for benchmarks only; what tests hold against is `kubelet`.
# containerd2 is containerd v2 with containerd-shim-runc-v2 beside it; the path is containerd's. runc wants libseccomp-dev and pkg-config.
# TEST_ASSET_ETCD, TEST_ASSET_KUBE_APISERVER, TEST_ASSET_KUBECTL and their like name ready binaries to use instead.
# Binaries live outside the checkout, by version, in ${ACTORLET_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/actorlet}/tools.
# The first kubelet takes minutes (and the module proxy); a cached tool takes milliseconds.
set -euo pipefail
cd "$(dirname "$0")"
kubernetes=1.35.4
etcd=3.6.5
metrics_server=0.9.0
kwok=0.8.0
tool=${1:-}
# bin/test builds what a layer uses before the layer begins, with the network; a tool that it does not know of would be missing on
# a machine where nothing is cached.
if [ -n "${ACTORLET_TEST_TOOLS+set}" ]; then
  case " $ACTORLET_TEST_TOOLS " in
    *" $tool "*) ;;
    *) echo "build.sh: a test uses $tool, which bin/test does not build for its layer; name it there, in tools_of or more_tools_of" >&2; exit 3 ;;
  esac
fi
asset=TEST_ASSET_$(echo "$tool" | tr 'a-z.-' 'A-Z__')
if [ -n "${!asset:-}" ]; then
  [ -x "${!asset}" ] || { echo "build.sh: $asset names ${!asset}, which cannot be executed; unset it to build $tool" >&2; exit 1; }
  echo "${!asset}"
  exit 0
fi
case $tool in
  kubelet | kubeadm | kube-apiserver | kube-scheduler | kube-controller-manager | kube-proxy | kubectl | e2e.test | e2e_node.test | agnhost | sample-device-plugin | sample-apiserver | kubemark) version=$kubernetes ;;
  ginkgo) version=$(awk '$1 == "github.com/onsi/ginkgo/v2" { print substr($2, 2) }' go.mod) ;;
  etcd) version=$etcd ;;
  kubelet-newest) version=$(awk '$1 == "k8s.io/kubernetes" { print substr($2, 2) }' kubelet-newest/go.mod) ;;
  metrics-server) version=$metrics_server ;;
  kwok) version=$kwok ;;
  containerd2) version=$(awk '$2 == "github.com/containerd/containerd/v2" { print substr($3, 2) }' containerd2/go.mod) ;;
  runc) version=$(awk '$2 == "github.com/opencontainers/runc" { print substr($3, 2) }' runc/go.mod) ;;
  coredns) version=$(awk '$2 == "github.com/coredns/coredns" { print substr($3, 2) }' coredns/go.mod) ;;
  csi-sanity) version=$(awk '$2 == "github.com/kubernetes-csi/csi-test/v5" { print substr($3, 2) }' csi-sanity/go.mod) ;;
  # The module and its version stand on a line of their own, or behind `require`.
  csi-attacher | csi-provisioner | csi-resizer) read -r module version < <(grep -oE "github.com/kubernetes-csi/external-${tool#csi-}/v[0-9]+ v[0-9.]+" "$tool/go.mod" | sed 's/ v/ /') ;;
  # Our own programs: the version is what they are made of.
  cri-client | cri-contract | stream-client | nonewprivs | fake-logind | csi-node-driver-registrar | csi-mock-driver) version=$(cat go.mod go.sum "$tool"/*.go | sha256sum | cut -c1-16) ;;
  *) echo "build.sh: unknown tool '$tool'; accepted: kubelet, kubelet-newest, kubeadm, kube-apiserver, kube-scheduler, kube-controller-manager, kubectl, etcd, metrics-server, ginkgo, e2e.test, e2e_node.test, agnhost, sample-device-plugin, containerd2, runc, csi-sanity, csi-attacher, csi-provisioner, csi-resizer, csi-node-driver-registrar, csi-mock-driver, cri-client, cri-contract, stream-client, nonewprivs, fake-logind, kube-proxy, coredns, sample-apiserver, kwok, kubemark" >&2; exit 2 ;;
esac
folder=${ACTORLET_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/actorlet}/tools/$tool-$version
binary=$folder/$tool
if [ "$tool" = containerd2 ]; then binary=$folder/containerd; fi
if [ ! -x "$binary" ]; then
  command -v go >/dev/null || { echo "build.sh: go is not in PATH; install Go 1.25 or newer to build $tool" >&2; exit 1; }
  mkdir -p "$folder"
  # One build at a time, whoever asks: the others find the finished binary when the lock is free.
  exec 9> "$folder/lock"
  flock 9
  if [ ! -x "$binary" ]; then
    case $tool in
      kubelet | kubeadm | kubectl | kube-apiserver | kube-controller-manager | kube-scheduler | kube-proxy)
        package=k8s.io/kubernetes/cmd/$tool
        minor=${kubernetes#*.}
        flags="-s -w"
        for setting in "gitVersion=v$kubernetes" gitMajor=1 "gitMinor=${minor%%.*}"; do
          flags+=" -X k8s.io/component-base/version.$setting"
        done
        ;;
      etcd) package=go.etcd.io/etcd/server/v3 flags="-s -w" ;;
      kubelet-newest | kubemark | kwok | metrics-server | e2e.test | e2e_node.test | containerd2 | runc | coredns | csi-sanity | csi-attacher | csi-provisioner | csi-resizer) ;;
      ginkgo) package=github.com/onsi/ginkgo/v2/ginkgo flags="-s -w" ;;
      # static: it is all that its image has besides a few commands
      sample-apiserver) package=k8s.io/sample-apiserver flags="-s -w"; export CGO_ENABLED=0 ;;
      agnhost | sample-device-plugin) package=k8s.io/kubernetes/test/images/$tool flags="-s -w"; export CGO_ENABLED=0 ;;
      # static: it runs in busybox containers, too
      stream-client | nonewprivs | csi-node-driver-registrar | csi-mock-driver) package=./$tool flags="-s -w"; export CGO_ENABLED=0 ;;
      *) package=./$tool flags="-s -w" ;;
    esac
    if [ "$tool" = metrics-server ]; then
      # It is built with the modules that it names itself, not with those of the control plane: an install of its own.
      GOFLAGS=-buildvcs=false GOBIN=$folder/new go install -ldflags "-s -w" \
        "sigs.k8s.io/metrics-server/cmd/metrics-server@v$metrics_server" >&2
      mv "$folder/new/$tool" "$binary"
      rmdir "$folder/new"
    elif [ "$tool" = kwok ]; then
      GOFLAGS=-buildvcs=false GOBIN=$folder/new go install -ldflags "-s -w" "sigs.k8s.io/kwok/cmd/kwok@v$kwok" >&2
      # Its usual stages of nodes and pods ("fast"), which kwokctl would give it, are in stages.yaml beside it.
      for stage in node/fast/node-initialize node/heartbeat-with-lease/node-heartbeat-with-lease pod/fast/pod-{ready,complete,delete}; do
        cat "$(go env GOMODCACHE)/sigs.k8s.io/kwok@v$kwok/kustomize/stage/$stage.yaml"
        echo ---
      done > "$folder/stages.yaml"
      mv "$folder/new/$tool" "$binary"
      rmdir "$folder/new"
    elif [ "$tool" = kubemark ]; then
      # A module of its own: it needs modules that nothing else here does.
      go build -C kubemark -mod=readonly -buildvcs=false -ldflags "-s -w" -o "$binary.new" k8s.io/kubernetes/cmd/kubemark >&2
      mv "$binary.new" "$binary"
    elif [ "$tool" = containerd2 ]; then
      # A module of its own; without btrfs, whose headers would have to be there. The shim first: it is looked for beside containerd.
      module=github.com/containerd/containerd/v2
      for program in containerd-shim-runc-v2 containerd; do
        go build -C containerd2 -mod=readonly -buildvcs=false -tags no_btrfs -ldflags "-s -w -X $module/version.Version=v$version" \
          -o "$folder/$program.new" "$module/cmd/$program" >&2
        mv "$folder/$program.new" "$folder/$program"
      done
    elif [ "$tool" = kubelet-newest ]; then
      minor=${version#*.}
      flags="-s -w"
      for setting in "gitVersion=v$version" gitMajor=1 "gitMinor=${minor%%.*}"; do flags+=" -X k8s.io/component-base/version.$setting"; done
      go build -C kubelet-newest -mod=readonly -buildvcs=false -ldflags "$flags" -o "$binary.new" k8s.io/kubernetes/cmd/kubelet >&2
      mv "$binary.new" "$binary"
    elif [ "$tool" = runc ]; then
      go build -C runc -mod=readonly -buildvcs=false -tags seccomp -ldflags "-s -w -X main.version=$version" -o "$binary.new" \
        github.com/opencontainers/runc >&2
      mv "$binary.new" "$binary"
    elif [ "$tool" = coredns ]; then
      CGO_ENABLED=0 go build -C coredns -mod=readonly -buildvcs=false -ldflags "-s -w" -o "$binary.new" github.com/coredns/coredns >&2
      mv "$binary.new" "$binary"
    elif [ "$tool" = csi-sanity ]; then
      go build -C csi-sanity -mod=readonly -buildvcs=false -ldflags "-s -w" -o "$binary.new" \
        github.com/kubernetes-csi/csi-test/v5/cmd/csi-sanity >&2
      mv "$binary.new" "$binary"
    elif [ "$tool" = csi-attacher ] || [ "$tool" = csi-provisioner ] || [ "$tool" = csi-resizer ]; then
      # A module of its own each: they are made with newer parts of Kubernetes. Static: they run in containers, too.
      CGO_ENABLED=0 go build -C "$tool" -mod=readonly -buildvcs=false -ldflags "-s -w -X main.version=v$version" -o "$binary.new" "$module/cmd/$tool" >&2
      mv "$binary.new" "$binary"
    elif [ "$tool" = e2e.test ] || [ "$tool" = e2e_node.test ]; then
      go test -c -vet=off -mod=readonly -buildvcs=false -ldflags "-s -w" -o "$binary.new" "k8s.io/kubernetes/test/${tool%.test}" >&2
      mv "$binary.new" "$binary"
    else
      go build -mod=readonly -buildvcs=false -ldflags "$flags" -o "$binary.new" "$package" >&2
      mv "$binary.new" "$binary"
    fi
  fi
fi
echo "$binary"
