# make run    set everything up and serve http://127.0.0.1:8080 on a real cluster; ARGS are flags of serve
# make test   set everything up and run every check and test
# make bench  measure; NAME=part runs the figures whose names hold that part
# make help   the other targets

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# Components, images and tools that are built once per machine.
export PODPROOF_CACHE := $(or $(PODPROOF_CACHE),$(HOME)/.cache/podproof)
# Static binaries; nothing of ours needs C.
export CGO_ENABLED := 0
export GOTOOLCHAIN := local

VERSION := $(shell git describe --always --dirty 2>/dev/null || echo unknown)
TOOLS := $(PODPROOF_CACHE)/tools
GO_FILES := $(shell find cmd grader internal labs migrations web -name '*.go' -not -name '*_test.go' -not -path '*/node_modules/*' 2>/dev/null)
EMBEDDED_FILES := $(shell find labs migrations internal/text/catalog -type f -not -name '*.go' 2>/dev/null)

# packages, components, images: what the embedded cluster is made of.
-include tools/components.mk

.PHONY: help run build assets test unit cluster-tests embedded-tests verify journeys bench lint generate drift test-kind clean embedded-parts

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "%-16s %s\n", $$1, $$2}'

## ---- build and run

run: build ## serve on a real cluster: kind where Docker, Podman or nerdctl runs, else an embedded one
	@case "$$(bin/podproof internal cluster)" in \
	embedded) $(MAKE) --no-print-directory embedded-parts ;; \
	esac
	@exec bin/podproof serve $(ARGS)

build: bin/podproof bin/kubectl ## bin/podproof, and bin/kubectl, which is the same

# The pages' files are embedded in the binary, so they come first.
bin/podproof: go.mod go.sum $(GO_FILES) $(EMBEDDED_FILES) web/assets/dist/manifest.json
	@echo "building podproof"
	@go build -ldflags '-s -w -X main.version=$(VERSION)' -o $@ ./cmd/server

# Starts the tests' cluster and runs a command on it.
bin/harness: go.mod go.sum $(GO_FILES) $(wildcard test/harness/*.go)
	@go build -o $@ ./test/harness

bin/kubectl: | bin/podproof
	@ln -sf podproof $@

assets: web/assets/dist/manifest.json ## the browser's files

web/assets/node_modules/.package-lock.json: web/assets/package.json web/assets/package-lock.json
	@echo "installing what builds the browser's files"
	@command -v npm >/dev/null || { echo "npm is missing: install Node.js 20 or later" >&2; exit 1; }
	@cd web/assets && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

# The style sheet holds the classes that the templates use.
web/assets/dist/manifest.json: web/assets/node_modules/.package-lock.json web/assets/build.js $(shell find web/assets/src web/view -name '*.templ' -o -path 'web/assets/src/*' -type f 2>/dev/null)
	@echo "building the browser's files"
	@cd web/assets && npm run --silent build

# Everything that an embedded cluster needs on this machine.
embedded-parts: packages components images

## ---- checks

test: ## everything: drift, lint, unit tests, a real cluster, every task proved, the browser
	@./test/all.sh

unit: web/assets/dist/manifest.json ## tests that need no cluster
	@go test ./...

# Packages that have tests with a build tag.
tagged = $(sort $(dir $(addprefix ./,$(shell git grep -lE '^//go:build .*\b$(1)\b' -- '*_test.go'))))

cluster-tests: build ## tests on the cluster of PODPROOF_TEST_KUBECONFIG
	@go test -tags cluster -count 1 -p 1 -timeout 15m $(call tagged,cluster)

embedded-tests: embedded-parts ## start, stop, kill and restart embedded clusters
	@go test -tags embedded -count 1 -p 1 -timeout 15m $(call tagged,embedded)

# Most cases wait for a Pod to start or end, so more run at a time than there
# are cores. VERIFY= runs with every value of the tasks' params.
VERIFY ?= --variants 1 --parallel 10

verify: build ## prove every task of the catalogue on the cluster of PODPROOF_TEST_KUBECONFIG
	@bin/podproof verify --cluster existing --kubeconfig "$$PODPROOF_TEST_KUBECONFIG" $(VERIFY)

journeys: build ## browser journeys on the cluster of PODPROOF_TEST_KUBECONFIG
	@test -n "$${CHROMIUM:-}" || tools/packages.sh chromium:chromium
	@PODPROOF_BIN="$(CURDIR)/bin/podproof" go test -tags browser -count 1 -timeout 15m ./test/browser/...

bench: build ## measure; fails where a figure is short of its goal
	@case "$$(bin/podproof internal cluster)" in \
	embedded) $(MAKE) --no-print-directory embedded-parts ;; \
	esac
	@go run ./test/bench --name '$(NAME)'

test-kind: build ## the whole product on a real kind cluster
	@test/kind/run.sh

lint: $(TOOLS)/golangci-lint ## gofmt, vet and the linters
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo "not formatted:"; gofmt -l $$(git ls-files '*.go'); exit 1; }
	@$(TOOLS)/golangci-lint run ./...

## ---- generated code

generate: $(TOOLS)/sqlc $(TOOLS)/templ ## the generated code that is committed
	@cd internal/sqlite && $(TOOLS)/sqlc generate
	@cd web/view && $(TOOLS)/templ generate -log-level error

drift: $(TOOLS)/sqlc $(TOOLS)/templ ## fails where committed generated code is not what its sources give
	@sum() { git ls-files -co --exclude-standard internal/sqlite/queries 'web/view/*_templ.go' | sort | xargs sha256sum; }; \
	before="$$(sum)"; $(MAKE) --no-print-directory generate; after="$$(sum)"; \
	diff <(echo "$$before") <(echo "$$after") >/dev/null || { \
	  echo "generated code was out of date; it has been made anew, commit it:"; \
	  diff <(echo "$$before") <(echo "$$after") | sed -n 's/^> [0-9a-f]*/ /p'; exit 1; }

$(TOOLS)/golangci-lint $(TOOLS)/sqlc $(TOOLS)/templ: tools/dev/go.mod tools/dev/go.sum
	@echo "building $(@F) (once)"
	@mkdir -p $(TOOLS)
	@cd tools/dev && go build -o $@ $$(go list tool | grep '/$(@F)$$')

clean: ## what was built in this folder; caches and progress stay
	@rm -rf bin web/assets/dist/*-* web/assets/dist/manifest.json web/assets/node_modules
