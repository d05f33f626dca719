#!/bin/sh
# Builds the S3 store versitygw into the directory $1. No inlining, and nothing for debuggers: a store for a few tests need
# not be fast, and is built in two thirds of the time.
GOBIN=$1 CGO_ENABLED=0 GOGC=200 exec go install '-gcflags=all=-l -dwarf=false' '-ldflags=-s -w' \
  github.com/versity/versitygw/cmd/versitygw@v1.8.0
