// cri-client makes every call of CRI v1 on a runtime, through the client that the kubelet uses, and checks the
// answers. It prints one line a call and exits 1 when an answer is wrong or a call of the contract was not made.
//
//	cri-client -endpoint unix:///run/x.sock -image IMAGE [-image-endpoint ...] [-dir FOLDER]
//	           [-exec-stdout TEXT -exec-exit N] [-lenient] [-present] [-cgroup-parent /PATH]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
	client "k8s.io/cri-client/pkg"
)

func main() {
	endpoint := flag.String("endpoint", "", "socket of the runtime, unix:///...")
	imageEndpoint := flag.String("image-endpoint", "", "socket of the image service, if it is another")
	c := &checker{made: map[string]bool{}, events: eventLog{byID: map[string][]cri.ContainerEventType{}}}
	flag.StringVar(&c.image, "image", "docker.io/library/busybox:latest", "image to pull, use and remove")
	flag.StringVar(&c.dir, "dir", "", "existing folder for logs and the checkpoint; default: a new one, removed at the end")
	flag.StringVar(&c.execStdout, "exec-stdout", "hello", "what `sh -c 'echo hello; exit 3'` must print")
	flag.IntVar(&c.execExit, "exec-exit", 3, "the exit code it must have")
	flag.BoolVar(&c.lenient, "lenient", false, "accept Unimplemented, and image lists that ignore their filter (containerd does)")
	flag.BoolVar(&c.present, "present", false, "the image is on the runtime already and cannot be pulled: do not pull or remove it")
	flag.StringVar(&c.cgroupParent, "cgroup-parent", "", "cgroup of the sandboxes; some runtimes have no pod statistics without")
	flag.Parse()
	os.Exit(run(c, *endpoint, *imageEndpoint))
}

func run(c *checker, endpoint, imageEndpoint string) int {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c.ctx = ctx
	if imageEndpoint == "" {
		imageEndpoint = endpoint
	}
	var err error
	if c.dir == "" {
		if c.dir, err = os.MkdirTemp("", "cri-client-"); err != nil {
			fmt.Fprintln(os.Stderr, "cri-client:", err)
			return 2
		}
		defer os.RemoveAll(c.dir)
	}
	if c.runtime, err = client.NewRemoteRuntimeService(endpoint, 10*time.Second, nil, nil); err == nil {
		c.images, err = client.NewRemoteImageService(imageEndpoint, 10*time.Second, nil, nil)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cri-client:", err)
		return 2
	}
	c.checkRuntime()
	c.watchEvents()
	ref := c.checkImagePresence()
	sandbox, other := c.runSandbox("a"), c.runSandbox("b")
	c.checkSandbox(sandbox, other)
	id := c.checkContainer(sandbox, ref)
	c.checkStats(sandbox, id)
	c.checkEnd(sandbox, other, id)
	c.checkEvents(id)
	c.checkImageRemoval()
	c.checkComplete()
	if c.failed > 0 {
		return 1
	}
	return 0
}
