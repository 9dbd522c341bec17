package search
import ("testing";"runtime";"time";"slices";"math/rand/v2";"fmt";"golang.org/x/sys/unix";"palmares/internal/catalog";"palmares/internal/synthetic")
func cpu() time.Duration { var ts unix.Timespec; unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID,&ts); return time.Duration(ts.Nano()) }
func TestCPU(t *testing.T){
 runtime.LockOSThread()
 rich,_:=richCatalog(100_000,160_000,1)
 for name,c:=range map[string]*catalog.Catalog{"rich":rich,"syn":synthetic.Catalog(100_000,1)} {
  t0:=cpu()
  x,_:=Build(t.Context(),c)
  fmt.Println("build cpu",cpu()-t0)
  for _,k:=range kinds { r:=rand.New(rand.NewPCG(1,2)); var took []time.Duration
   for range 400 { q:=k.make(r,x); s:=cpu(); x.Search(Query{Text:q,Limit:20}); took=append(took,cpu()-s)}
   slices.Sort(took); fmt.Printf("%s %-22s p50 %v p95 %v max %v\n",name,k.name,took[200],took[380],took[399]) } } }
