// Receiver is an example of a program that receives webhooks. It verifies signatures, because
// anybody can send to it, and takes each event once, because deliveries are repeated.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const limit = 1 << 20 // bytes; an event has about 20 kB

func main() {
	webhook, err := standardwebhooks.NewWebhook(os.Getenv("WEBHOOK_SECRET")) // whsec_…
	if err != nil {
		log.Fatal(err)
	}
	var seen sync.Map // in production: a unique column of your database

	http.HandleFunc("POST /", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
		if tooLong := new(http.MaxBytesError); errors.As(err, &tooLong) {
			http.Error(w, "too long", http.StatusRequestEntityTooLarge)
			return
		}
		if err != nil {
			http.Error(w, "cut off", http.StatusBadRequest)
			return
		}
		if err := webhook.Verify(body, r.Header); err != nil {
			http.Error(w, "bad signature", http.StatusBadRequest)
			return
		}
		var event struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(body, &event); err != nil {
			http.Error(w, "bad body", http.StatusBadRequest)
			return
		}
		id := r.Header.Get("webhook-id")
		if _, again := seen.LoadOrStore(id, true); !again {
			fmt.Println("received", event.Type, id)
		}
		w.WriteHeader(http.StatusNoContent)
	})

	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, nil))
}
