//! From checked addresses to a TCP connection.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::net::{TcpSocket, TcpStream};

use super::policy::Checked;
use super::proxy::EgressProxy;

/// Connect to the first of `addresses` that takes the call.
///
/// A next one is called when the last one failed, or did not answer within a quarter of a second; the
/// families take turns (RFC 8305, in short). The caller sets the deadline.
///
/// By way of `proxy`, if there is one: then each call is a tunnel's.
///
/// # Errors
///
/// The last failure, if all of them fail.
pub(super) async fn dial(
    addresses: Vec<Checked>,
    proxy: Option<&EgressProxy>,
) -> io::Result<(TcpStream, Checked)> {
    let mut waiting = take_turns(addresses).into_iter().take(MOST_CALLS);
    let mut calls = FuturesUnordered::new();
    let mut failure = io::Error::from(io::ErrorKind::AddrNotAvailable);
    loop {
        match waiting.next() {
            Some(next) => calls.push(call(next, proxy)),
            None if calls.is_empty() => return Err(failure),
            None => {}
        }
        tokio::select! {
            biased;
            Some(outcome) = calls.next() => match outcome {
                Ok(connected) => return Ok(connected),
                Err(error) => failure = error,
            },
            () = tokio::time::sleep(STAGGER), if waiting.len() > 0 => {}
        }
    }
}

async fn call(checked: Checked, proxy: Option<&EgressProxy>) -> io::Result<(TcpStream, Checked)> {
    let Some(proxy) = proxy else {
        return Ok((connect(checked.address()).await?, checked));
    };
    let mut stream = connect(proxy.address()).await?;
    proxy.tunnel(&mut stream, checked).await?;
    Ok((stream, checked))
}

async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // What the other side pushes unasked waits in its buffers, not in ours.
    socket.set_recv_buffer_size(RECEIVE_BUFFER_BYTES)?;
    socket.set_nodelay(true)?;
    socket.connect(address).await
}

/// IPv6 first, then the families by turns, each in its order.
fn take_turns(addresses: Vec<Checked>) -> Vec<Checked> {
    let (v6, v4): (Vec<_>, Vec<_>) = addresses
        .into_iter()
        .partition(|checked| checked.address().is_ipv6());
    let (mut v6, mut v4) = (v6.into_iter(), v4.into_iter());
    let mut turns = Vec::new();
    loop {
        let pair = [v6.next(), v4.next()];
        if pair.iter().all(Option::is_none) {
            return turns;
        }
        turns.extend(pair.into_iter().flatten());
    }
}

/// RFC 8305 section 5.
const STAGGER: Duration = Duration::from_millis(250);
/// A name with a hundred addresses is no reason to knock at all of them.
const MOST_CALLS: usize = 4;
const RECEIVE_BUFFER_BYTES: u32 = 32 * 1024;
