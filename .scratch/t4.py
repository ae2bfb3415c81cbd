import numpy as np, time, ogive
from ogive import Tensor
rng=np.random.default_rng(0)
def bench(name,t,n=10):
    t0=time.perf_counter(); p=t.prepare(); t1=time.perf_counter(); p.execute(); 
    best=1e9
    for _ in range(n):
        s=time.perf_counter(); p.execute(); best=min(best,time.perf_counter()-s)
    tm={}
    for k in p.kernels:
        for a,b in k.timings.items(): tm[a]=tm.get(a,0)+b*1e3
    print(f"{name:12} {best*1e3:8.3f} ms prepare {1e3*(t1-t0):6.1f} ms  kernels {len(p.kernels)} {[k.name for k in p.kernels]} { {k:round(v,1) for k,v in tm.items()} }")
N=4096
x=Tensor(rng.standard_normal((N,N)).astype(np.float32)); y=Tensor(rng.standard_normal((N,N)).astype(np.float32))
f=x.reshape(-1); g=y.reshape(-1)
bench("warm",x[0]+1)
bench("copy+1",x+1)
bench("chain",(f*g+1).gelu()*0.5+(-(f*f)).exp())
bench("sum",x.sum())
bench("softmax",x.softmax(-1))
bench("ln",x.layer_norm((N,)))
bench("colsum",x.sum(0))
bench("T",x.T.contiguous())
for n in (256,512,1024):
    a=Tensor(rng.standard_normal((n,n)).astype(np.float32)); b=Tensor(rng.standard_normal((n,n)).astype(np.float32))
    bench(f"mm{n}",a@b); bench(f"mmT{n}",a@b.T)
bench("matvec",x@x[0]); bench("vecmat",x[0]@x)
x4=Tensor([1.,2.,3.,4.])
p=(x4+1).prepare()
s=time.perf_counter()
for _ in range(10000): p.execute()
print("exec us",(time.perf_counter()-s)/10000*1e6)
(x4+1).realize()
s=time.perf_counter()
for _ in range(3000): (x4+1).realize()
print("realize us",(time.perf_counter()-s)/3000*1e6)
