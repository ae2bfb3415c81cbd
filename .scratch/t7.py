import sys, time, numpy as np
t0=time.perf_counter()
import ogive
from ogive import Tensor
rng=np.random.default_rng(0)
D,H,T=512,8,128
def params():
    f=lambda *s: Tensor(rng.standard_normal(s).astype(np.float32)*0.05)
    return dict(wq=f(D,D),wk=f(D,D),wv=f(D,D),wo=f(D,D),bq=f(D),bk=f(D),bv=f(D),bo=f(D),w1=f(D,4*D),b1=f(4*D),w2=f(4*D,D),b2=f(D),g1=f(D),h1=f(D),g2=f(D),h2=f(D))
def block(x,p):
    h=x.layer_norm((D,),p['g1'],p['h1'])
    q,k,v=[(h@p[w]+p[b]).reshape(T,H,D//H).permute(1,0,2) for w,b in (('wq','bq'),('wk','bk'),('wv','bv'))]
    a=((q@k.permute(0,2,1))*(1/np.sqrt(D//H))).softmax(-1)
    o=(a@v).permute(1,0,2).reshape(T,D)
    x=x+o@p['wo']+p['bo']
    h=x.layer_norm((D,),p['g2'],p['h2'])
    return x+(h@p['w1']+p['b1']).gelu()@p['w2']+p['b2']
n=int(sys.argv[1])
ps=[params() for _ in range(n)]
x=Tensor(rng.standard_normal((T,D)).astype(np.float32))
t1=time.perf_counter()
y=x
for p in ps: y=block(y,p)
t2=time.perf_counter()
if len(sys.argv)>2:
    import cProfile,pstats; pr=cProfile.Profile(); pr.enable()
plan=y.prepare()
if len(sys.argv)>2: pr.disable(); pstats.Stats(pr).sort_stats('tottime').print_stats(25)
t3=time.perf_counter()
plan.execute(); t4=time.perf_counter()
best=1e9
for _ in range(20):
    s=time.perf_counter(); plan.execute(); best=min(best,time.perf_counter()-s)
print(f"capture {1e3*(t2-t1):.1f} prepare {1e3*(t3-t2):.1f} first exec {1e3*(t4-t3):.1f} best {1e3*best:.2f} kernels {len(plan.kernels)} unique {len(set(plan.kernels))}")
ks=sorted(set(plan.kernels), key=lambda k:-sum(k.timings.values()))
for k in ks: print(f"  {1e3*sum(k.timings.values()):6.1f} ms", {a:round(1e3*b,1) for a,b in k.timings.items()}, k.name, len(k.ir))
