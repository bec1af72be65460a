import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { accepts, freePort } from '../processes.ts'
import type { Peer, Surroundings } from './peer.ts'

/** Starts nginx as one process, with keep-alive on both sides and no access log. Undefined if it is not installed. */
export async function startNginx({ processes, upstreamPort }: Surroundings): Promise<Peer | undefined> {
  // nginx is often in a system folder that is not in PATH.
  const binary = Bun.which('nginx', { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/local/sbin` })
  if (binary === null) return undefined
  const port = freePort()
  const folder = join(processes.folder, 'nginx')
  mkdirSync(folder)
  const configuration = join(folder, 'nginx.conf')
  writeFileSync(configuration, configurationOf(folder, port, upstreamPort))
  const running = processes.start({
    name: 'nginx',
    command: [binary, '-p', folder, '-c', configuration, '-e', 'stderr'],
  })
  await running.ready(() => accepts(port))
  return { name: 'nginx', pid: running.pid, port, headers: {} }
}

function configurationOf(folder: string, port: number, upstreamPort: number): string {
  return `
daemon off;
master_process off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log stderr warn;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path ${folder}/client_body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  client_body_buffer_size 1m;
  client_max_body_size 64m;
  keepalive_requests 1000000000;
  keepalive_timeout 600s;
  upstream mock {
    server 127.0.0.1:${upstreamPort};
    keepalive 256;
    keepalive_requests 1000000000;
    keepalive_timeout 600s;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://mock;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }
  }
}
`
}
