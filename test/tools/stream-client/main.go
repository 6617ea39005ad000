// stream-client speaks the kubelet's streaming API straight to its port with a client certificate, through the
// libraries that Go clients use (client-go):
//
//	stream-client exec    -url URL [-transport v5|v4|spdy] [-stdin] [-tty] [-resize 100x40,80x24]
//	stream-client forward -url URL -port N [-connections N] [-bytes N]
//	stream-client latency -url URL -repeat N [-transport ...]
//	stream-client echo    -port N
//
// all but the last (an echo server for a pod) with -cert, -key and -ca (PEM files). `exec` joins its own stdin, stdout
// and stderr to the command's and ends with its exit code, or with 255 and a word on stderr when there is none.
// `forward` sends -bytes on each connection to an echo server in the pod and checks what comes back; `latency` runs the
// command again and again; these two print one JSON object.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"

	"k8s.io/client-go/rest"
)

type options struct {
	target      *url.URL
	config      *rest.Config
	transport   string
	stdin, tty  bool
	resize      string
	port        int
	connections int
	bytes       int64
	repeat      int
}

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("usage: stream-client exec|forward|latency|echo [flags]"))
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	var o options
	var target, cert, key, ca string
	flags.StringVar(&target, "url", "", "https://NODE:PORT/exec/... with its query")
	flags.StringVar(&cert, "cert", "", "client certificate")
	flags.StringVar(&key, "key", "", "its key")
	flags.StringVar(&ca, "ca", "", "authority of the server's certificate")
	flags.StringVar(&o.transport, "transport", "v5", "v5 or v4 (WebSocket), or spdy")
	flags.BoolVar(&o.stdin, "stdin", false, "send stdin")
	flags.BoolVar(&o.tty, "tty", false, "the command has a terminal")
	flags.StringVar(&o.resize, "resize", "", "sizes to set, one each half second: COLUMNSxROWS,...")
	flags.IntVar(&o.port, "port", 0, "port in the pod")
	flags.IntVar(&o.connections, "connections", 1, "connections at the same time")
	flags.Int64Var(&o.bytes, "bytes", 1<<20, "bytes to send on each connection")
	flags.IntVar(&o.repeat, "repeat", 10, "how often")
	_ = flags.Parse(os.Args[2:])
	var err error
	if o.target, err = url.Parse(target); err != nil {
		fail(err)
	}
	o.config = &rest.Config{
		Host:            o.target.Scheme + "://" + o.target.Host,
		TLSClientConfig: rest.TLSClientConfig{CertFile: cert, KeyFile: key, CAFile: ca},
	}
	switch os.Args[1] {
	case "exec":
		os.Exit(runExec(o))
	case "forward":
		result, err := runForward(o)
		report(result, err)
	case "latency":
		result, err := runLatency(o)
		report(result, err)
	case "echo":
		fail(serveEcho(o.port))
	default:
		fail(fmt.Errorf("unknown command %q", os.Args[1]))
	}
}

func report(result any, err error) {
	if err != nil {
		fail(err)
	}
	text, err := json.Marshal(result)
	if err != nil {
		fail(err)
	}
	fmt.Println(string(text))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "stream-client:", err)
	os.Exit(255)
}
