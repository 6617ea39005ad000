// Records what kubelet's own HTTP prober (pkg/probe/http) and the client of its lifecycle hooks make of raw answers, for
// test/pure/host/http-answers.test.ts. To make the record again (after a new Kubernetes release):
//
//	cd test/tools && go run ./http-answers > ../pure/host/kubelet-http-answer-vectors.json
package main

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	httpprobe "k8s.io/kubernetes/pkg/probe/http"
)

// What a probe has; what is over in half of it was said at once.
const timeout = 3 * time.Second

// step is a thing that the server does on a connection. Each character of a text is one byte.
type step struct {
	Send  string `json:"send,omitempty"`
	Times int    `json:"times,omitempty"`
	// Pause in ms before the next step. Long ones stand for a server that is slow, short ones for parts that come apart.
	Pause int `json:"pause,omitempty"`
	// Forever: the step again and again, until the client goes.
	Forever bool `json:"forever,omitempty"`
	// End: "close" or "reset"; without one the connection stays open until the client closes it.
	End string `json:"end,omitempty"`
}

// answer is a case: what is asked and what the server does on its first, second ... connection (the last one's for all others).
type answer struct {
	Name        string          `json:"name"`
	Scheme      string          `json:"scheme,omitempty"`
	Host        string          `json:"host,omitempty"`
	Path        string          `json:"path,omitempty"`
	Headers     []v1.HTTPHeader `json:"headers,omitempty"`
	TLS         bool            `json:"tls,omitempty"`
	Unread      bool            `json:"unread,omitempty"` // the server does not wait for a request
	Connections [][]step        `json:"connections"`

	// What kubelet says: success, warning, failure, or error (its result is thrown away and the probe is run again).
	Result string `json:"result"`
	Text   string `json:"text"`
	// When: at once, at the timeout, or never (hangs).
	When string `json:"when"`
	// Hook is how a lifecycle hook ends: ok, failed or hangs.
	Hook string `json:"hook"`
	// Requests as the server read them, up to the empty line.
	Requests []string `json:"requests,omitempty"`
}

func main() {
	cases := answers()
	// A few at a time: what is said at once must be so on a busy machine, too.
	var wait sync.WaitGroup
	turn := make(chan struct{}, 8)
	for i := range cases {
		wait.Add(1)
		turn <- struct{}{}
		go func() {
			defer wait.Done()
			record(&cases[i])
			<-turn
		}()
	}
	wait.Wait()
	fmt.Println("[")
	for i, c := range cases {
		var line bytes.Buffer
		encoder := json.NewEncoder(&line)
		encoder.SetEscapeHTML(false)
		must(encoder.Encode(c))
		comma := ","
		if i == len(cases)-1 {
			comma = ""
		}
		fmt.Printf("  %s%s\n", strings.TrimSpace(line.String()), comma)
	}
	fmt.Println("]")
}

func record(c *answer) {
	server := serve(c)
	action := &v1.HTTPGetAction{
		Scheme: v1.URIScheme(strings.ToUpper(c.Scheme)), Host: c.Host, Path: c.Path,
		Port: intstr.FromInt32(int32(server.port())), HTTPHeaders: c.Headers,
	}
	if c.Path == "" {
		action.Path = "/"
	}
	began := time.Now()
	type said struct {
		result, text string
		took         time.Duration
	}
	probed := make(chan said, 1)
	go func() {
		request, err := httpprobe.NewRequestForHTTPGetAction(action, &v1.Container{}, "127.0.0.1", "probe")
		if err != nil {
			probed <- said{"error", err.Error(), time.Since(began)}
			return
		}
		result, text, err := httpprobe.New(false).Probe(request, timeout)
		if err != nil {
			probed <- said{"error", err.Error(), time.Since(began)}
			return
		}
		probed <- said{string(result), text, time.Since(began)}
	}()
	select {
	case s := <-probed:
		c.Result, c.Text, c.When = s.result, server.plain(s.text), "at once"
		if s.took > timeout/2 {
			c.When = "timeout"
			c.Text = late.ReplaceAllString(c.Text, "context deadline exceeded (Client.Timeout")
			if strings.HasSuffix(c.Text, ": context deadline exceeded") {
				c.Text += " (Client.Timeout exceeded while awaiting headers)"
			}
		}
	case <-time.After(3 * timeout):
		c.When = "hangs"
	}
	c.Requests = server.stop()

	server = serve(c)
	action.Port = intstr.FromInt32(int32(server.port()))
	hooked := make(chan error, 1)
	go func() {
		request, err := httpprobe.NewRequestForHTTPGetAction(action, &v1.Container{}, "127.0.0.1", "lifecycle")
		if err != nil {
			hooked <- err
			return
		}
		// As insecureContainerLifecycleHTTPClient of pkg/kubelet/kubelet.go, and what pkg/kubelet/lifecycle/handlers.go reads of the answer.
		client := http.Client{
			Transport:     &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
			CheckRedirect: httpprobe.RedirectChecker(false),
		}
		response, err := client.Do(request)
		if response != nil {
			if response.ContentLength <= 10*1024 {
				io.Copy(io.Discard, &io.LimitedReader{R: response.Body, N: 10 * 1024})
			}
			response.Body.Close()
		}
		hooked <- err
	}()
	select {
	case err := <-hooked:
		c.Hook = "ok"
		if err != nil {
			c.Hook = "failed"
		}
	case <-time.After(3 * timeout):
		c.Hook = "hangs"
	}
	server.stop()
}

type server struct {
	listener net.Listener
	lock     sync.Mutex
	open     []net.Conn
	requests []string
	stopped  bool
}

func serve(c *answer) *server {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	s := &server{listener: listener}
	go func() {
		for i := 0; ; i++ {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			s.lock.Lock()
			s.open = append(s.open, connection)
			s.lock.Unlock()
			go s.answer(connection, c, c.Connections[min(i, len(c.Connections)-1)])
		}
	}()
	return s
}

func (s *server) port() int { return s.listener.Addr().(*net.TCPAddr).Port }

func (s *server) stop() []string {
	s.listener.Close()
	s.lock.Lock()
	defer s.lock.Unlock()
	s.stopped = true
	for _, connection := range s.open {
		connection.Close()
	}
	return s.requests
}

func (s *server) answer(raw net.Conn, c *answer, steps []step) {
	defer raw.Close()
	connection := raw
	if c.TLS {
		connection = tls.Server(raw, &tls.Config{Certificates: []tls.Certificate{certificate}})
	}
	reader := bufio.NewReader(connection)
	if !c.Unread {
		request := ""
		for {
			line, err := reader.ReadString('\n')
			if err != nil {
				return
			}
			if line == "\r\n" {
				break
			}
			request += line
		}
		s.lock.Lock()
		if !s.stopped {
			s.requests = append(s.requests, s.plain(oneEach(request)))
		}
		s.lock.Unlock()
	}
	port := strconv.Itoa(s.port())
	for _, next := range steps {
		for {
			text := strings.ReplaceAll(strings.Repeat(next.Send, max(next.Times, 1)), "PORT!", port)
			if text != "" {
				if _, err := connection.Write(latin1(text)); err != nil {
					return
				}
			}
			time.Sleep(time.Duration(next.Pause) * time.Millisecond)
			if !next.Forever {
				break
			}
		}
		switch next.End {
		case "close":
			connection.Close()
			return
		case "reset":
			raw.(*net.TCPConn).SetLinger(0)
			raw.Close()
			return
		}
	}
	io.Copy(io.Discard, reader)
}

// plain: without the numbers that differ from run to run.
func (s *server) plain(text string) string {
	text = strings.ReplaceAll(text, strconv.Itoa(s.port()), "PORT!")
	// A kubelet that was not built by its own scripts knows no version.
	text = strings.ReplaceAll(text, "kube-probe/.", "kube-probe/1.35")
	return ownAddress.ReplaceAllString(text, "OWN!->")
}

// late: over https it is chance by which of its ways Go's client gives up, and what it says then.
var late = regexp.MustCompile(`net/http: request canceled( while waiting for connection)? \(Client\.Timeout`)

var ownAddress = regexp.MustCompile(`127\.0\.0\.1:\d+->`)

// oneEach: a character for each byte.
func oneEach(text string) string {
	out := make([]rune, 0, len(text))
	for _, b := range []byte(text) {
		out = append(out, rune(b))
	}
	return string(out)
}

func latin1(text string) []byte {
	out := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 255 {
			panic("not a byte: " + text)
		}
		out = append(out, byte(r))
	}
	return out
}

var certificate = func() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}()

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
