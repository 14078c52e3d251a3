# Go is all that is needed. `make` alone lists the targets.

GO          ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.DEFAULT_GOAL := help
.PHONY: help run build test race lint bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/fairgate
	$(GO) build -o bin/fairgate .

run: build ## the live starvation demo (without a terminal: a line a second, then the report)
	@./bin/fairgate run starvation

test: ## vet and all tests
	$(GO) vet ./...
	$(GO) test ./...

race: ## all tests under the race detector
	$(GO) test -race ./...

lint: ## formatting, vet, staticcheck
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not formatted by gofmt:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

bench: ## the comparisons with other limiters and with vegeta, then all benchmarks
	cd limiter/benchmarks && $(GO) run .
	$(GO) test -run '^$$' -bench . -benchmem ./...

clean: ## remove what was built
	rm -rf bin
