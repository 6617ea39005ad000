package main

import (
	"io"
	"log"
	"net"
	"strings"
)

// handOn joins each connection of the driver's socket with the next one that the suite made to the other endpoint: the suite keeps some
// open ahead, so that one is there when an agent or a sidecar calls. Returns when either does not listen any more.
func handOn(calls net.Listener, endpoint string) error {
	answers, err := net.Listen("tcp", strings.TrimPrefix(endpoint, "tcp://"))
	if err != nil {
		return err
	}
	for {
		call, err := calls.Accept()
		if err != nil {
			return err
		}
		answer, err := answers.Accept()
		if err != nil {
			return err
		}
		log.Printf("joined a call with %s", answer.RemoteAddr())
		go join(call, answer)
	}
}

// join copies both ways until either side ends, and closes both then.
func join(one, other net.Conn) {
	done := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{one, other}, {other, one}} {
		go func() {
			_, _ = io.Copy(pair[0], pair[1])
			done <- struct{}{}
		}()
	}
	<-done
	one.Close()
	other.Close()
}
