# Everything that dyn uses: Deno, a C++ compiler, a Vulkan driver in software.
#   docker build -t dyn . && docker run --rm dyn verify
FROM debian:bookworm-slim
RUN apt-get update -q \
  && apt-get install -q -y --no-install-recommends ca-certificates g++ libvulkan1 mesa-vulkan-drivers nodejs npm \
  && rm -rf /var/lib/apt/lists/*
RUN npm install --global deno@2.9.6
WORKDIR /dyn
COPY . .
RUN deno cache mod.ts cli.ts && mkdir -m 700 /tmp/runtime
ENV XDG_RUNTIME_DIR=/tmp/runtime
ENTRYPOINT ["deno", "run", "-A", "/dyn/cli.ts"]
CMD ["doctor"]
